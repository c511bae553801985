"""What a mail says: who wrote it to whom and when, its words and what is attached."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from indexing.loaders.charset import one_line

NO_SUBJECT = "(no subject)"
PICTURES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp"})


@dataclass(frozen=True, slots=True)
class Person:
    """A sender or recipient: a name, an address, or both."""

    name: str = ""
    address: str = ""

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>" if self.name and self.address else self.known_as

    @property
    def known_as(self) -> str:
        """The name, else the address."""
        return self.name or self.address


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file attached to a mail, or a mail."""

    name: str
    content: bytes | Mail

    @property
    def is_picture(self) -> bool:
        """Whether it is one by the suffix of its name."""
        return Path(self.name).suffix.lower() in PICTURES


@dataclass(frozen=True, slots=True)
class Mail:
    """What a mail says."""

    sender: tuple[Person, ...]  # who sent it
    to: tuple[Person, ...]  # to whom
    copies: tuple[Person, ...]  # who else got it
    date: datetime | None  # when it was sent, with the sender's time zone where it is known
    subject: str  # as it stands
    body: str  # its words as text
    # in order; not the pictures that are shown within its words
    attachments: tuple[Attachment, ...] = ()
    unread: str = ""  # why some of it cannot be read, such as encryption; "" where all can be

    @property
    def title(self) -> str:
        """The subject, or what stands for it."""
        return one_line(self.subject).strip() or NO_SUBJECT

    @property
    def place(self) -> str:
        """What a citation names in the place of a page: who sent it, and on which day."""
        who = ", ".join(each.known_as for each in self.sender[:2])
        return ", ".join(filter(None, (f"mail from {who}" if who else "mail", day_of(self.date))))


def day_of(date: datetime | None) -> str:
    """A day as people write it: "3 March 2026"; "" for none."""
    return f"{date.day} {date:%B %Y}" if date else ""
