"""A mail as documents: its head and words, then what is attached to it, each named after the mail.

Attached pictures are figures of the mail; where an OCR engine was named, what it reads in one is a
document, too. What `eml.py` and `msg.py` read out of their files goes through here.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from indexing.documents import Extract, Figure, Occasion
from indexing.errors import OtherKind, PartUnread, UnreadableFile
from indexing.loaders.charset import clean, one_line
from indexing.loaders.draft import Draft
from indexing.loaders.faults import unreadable
from indexing.loaders.figures import Gallery
from indexing.ocr.recognition import current

DEEPEST = 5  # mails attached to mails
MOST_NAMED = 20  # attachments that are named where they are not read
MOST = 1_000  # attachments of a mail that are read
STEM = 100  # characters of an attachment's name that its file has

NO_SUBJECT = "(no subject)"
HEAD = "head of the mail"  # as the source of its date and people

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp"})

_UNUSABLE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_REPLY = re.compile(r"^\s*(?:(?:re|aw|fwd?|wg|antw?|sv|tr|rv|vs)(?:\[\d+\])?\s*:\s*)+", re.I)
_FIELDS = ("From", "To", "Cc", "Date", "Subject")


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
    """What a mail says.

    Attributes:
        sender: Who sent it.
        to: To whom.
        copies: Who else got it.
        date: When it was sent, with the sender's time zone where it is known.
        subject: As it stands.
        body: Its words as text.
        attachments: In order; not the pictures that are shown within its words.
        unread: Why some of it cannot be read, such as encryption; "" where all can be.
    """

    sender: tuple[Person, ...]
    to: tuple[Person, ...]
    copies: tuple[Person, ...]
    date: datetime | None
    subject: str
    body: str
    attachments: tuple[Attachment, ...] = ()
    unread: str = ""

    @property
    def title(self) -> str:
        """The subject, or what stands for it."""
        return one_line(self.subject).strip() or NO_SUBJECT

    @property
    def thread(self) -> str:
        """The subject without "Re:" and the like, which all mails of a thread share."""
        return _REPLY.sub("", self.title)

    @property
    def place(self) -> str:
        """What a citation names in the place of a page: who sent it, and on which day."""
        who = ", ".join(each.known_as for each in self.sender[:2])
        return ", ".join(filter(None, (f"mail from {who}" if who else "mail", _day(self.date))))


def extracts(
    path: Path, mail: Mail, *, part: str = "", depth: int = 0
) -> Iterator[Extract | UnreadableFile]:
    """The mail, then its attachments, and what of it was not read.

    Args:
        path: Of the file.
        mail: What it says.
        part: Which document of the file it is; "" for the mail that the file is.
        depth: How many mails it is within.

    Raises:
        UnreadableFile: All of it is encrypted.
    """
    if mail.unread and not mail.body.strip() and not mail.attachments:
        remedy = "open it in a mail program that has the key, and save its text"
        raise UnreadableFile(path, mail.unread, remedy)
    yield replace(_head_and_body(mail), part=part)
    if mail.unread:
        yield PartUnread(path, mail.unread, "save that part from a mail program and index it")
    counts: dict[str, int] = {}
    left_out: list[str] = []
    pictures: list[str] = []
    for attached in mail.attachments[:MOST]:
        name = _unused(one_line(attached.name).strip() or "attachment", counts)
        whole = f"{part}/{name}" if part else name
        if isinstance(attached.content, bytes):
            inner = _file(path, name, attached.content)
        elif depth < DEEPEST:
            inner = extracts(path, attached.content, part=whole, depth=depth + 1)
        else:
            inner = None
        if inner is None:
            (pictures if attached.is_picture else left_out).append(name)
        else:
            yield from _named(path, mail, name, whole, inner)
    left_out += [one_line(each.name) for each in mail.attachments[MOST:]]
    if left_out:
        reason = f"has attachments that are not read ({_listed(left_out)})"
        yield PartUnread(path, reason, "save them from a mail program and convert them, if wanted")
    if pictures:
        reason = f"has attached pictures, whose words are not read ({_listed(pictures)})"
        yield PartUnread(path, reason, "if there are words in them, index it with --ocr rapidocr")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _head_and_body(mail: Mail) -> Extract:
    """The head as lines of text, so that it can be found and quoted, then the words."""
    values = (
        ", ".join(map(str, mail.sender)),
        ", ".join(map(str, mail.to)),
        ", ".join(map(str, mail.copies)),
        _moment(mail.date),
        mail.title if mail.subject.strip() else "",
    )
    draft = Draft()
    for name, value in zip(_FIELDS, values, strict=True):
        if value:
            draft.separate("\n")
            draft.write(f"{name}: {one_line(value)}")
    if body := clean(mail.body).strip():
        draft.separate("\n\n")
        draft.heading_at(draft.write(body))
    draft.page(0, 1, one_line(mail.place))
    extract = draft.extract(mail.title)
    return replace(extract, occasion=_occasion(mail), figures=_figures(mail, len(extract.text)))


def _figures(mail: Mail, end: int) -> tuple[Figure, ...]:
    """The pictures that are attached to it, behind its words."""
    gallery = Gallery()
    for each in mail.attachments[:MOST]:
        if isinstance(each.content, bytes) and each.is_picture:
            gallery.add(each.content, start=end, caption=one_line(each.name), page=1)
    return gallery.figures()


def _occasion(mail: Mail) -> Occasion:
    """When the mail was sent, and among whom."""
    everybody = (*mail.sender, *mail.to, *mail.copies)
    people = tuple(dict.fromkeys(one_line(each.known_as) for each in everybody if each.known_as))
    date = mail.date.isoformat(timespec="seconds") if mail.date else ""
    return Occasion(date, HEAD if date else "", people, HEAD if people else "")


def _file(path: Path, name: str, content: bytes) -> Iterator[Extract | UnreadableFile] | None:
    """What a loader reads out of an attached file; None where none reads such files."""
    from indexing.loaders import LOADERS

    suffix, recognition = Path(name).suffix.lower(), current()
    is_named = recognition is not None and recognition.settings.is_named
    is_read = suffix in LOADERS and (suffix not in PICTURES or is_named)
    return _loaded(path, name, suffix, content) if is_read else None


def _loaded(
    path: Path, name: str, suffix: str, content: bytes
) -> Iterator[Extract | UnreadableFile]:
    from indexing.loaders import LOADERS

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, _UNUSABLE.sub("_", Path(name).stem)[:STEM].strip(" .") + suffix)
        file.write_bytes(content)
        try:
            if not content:
                raise UnreadableFile(path, "is empty", "ask for it again")
            yield from LOADERS[suffix].load(file)
        except OtherKind as error:
            if suffix not in PICTURES:  # most pictures are photographs, without words
                yield error
        except (MemoryError, RecursionError):
            raise
        except UnreadableFile as error:
            yield error
        except Exception as error:  # as of a file, in `__main__`
            verb = f"read as {LOADERS[suffix].format}"
            yield unreadable(path, error, verb=verb, remedy="ask for it again")


def _named(
    path: Path,
    mail: Mail,
    name: str,
    whole: str,
    extracts: Iterator[Extract | UnreadableFile],
) -> Iterator[Extract | UnreadableFile]:
    """Documents named after the mail; what is wrong with one concerns that part alone."""
    try:
        for each in extracts:
            if isinstance(each, UnreadableFile):
                inner = each.reason.removeprefix("its attachment ")
                within = "/" if inner != each.reason else " "
                yield PartUnread(path, f"its attachment {name}{within}{inner}", each.remedy)
                continue
            if not each.text.strip():
                yield PartUnread(path, f"its attachment {name} holds no text", "see what it is")
                continue
            inner = each.part.removeprefix(whole).strip("/")
            part = f"{whole}/{inner}" if inner else whole
            is_mail = any(page.name.startswith("mail") for page in each.pages)
            title = each.title if is_mail else f"{name}{f' ({inner})' if inner else ''}"
            when = each.occasion or _occasion(mail)
            yield replace(each, part=part, title=f"{mail.title}: {title}", occasion=when)
    except UnreadableFile as error:
        yield PartUnread(path, f"its attachment {name} {error.reason}", error.remedy)


def _unused(name: str, counts: dict[str, int]) -> str:
    """The name, with a number before its suffix where the mail has used it already."""
    unused = name
    while unused in counts:
        counts[name] += 1
        file = Path(name)
        unused = f"{file.stem}-{counts[name]}{file.suffix}"
    counts[unused] = 1
    return unused


def _day(date: datetime | None) -> str:
    return f"{date.day} {date:%B %Y}" if date else ""


def _moment(date: datetime | None) -> str:
    """A date as people write it: "Tuesday, 3 March 2026, 14:05 +0100"."""
    return f"{date:%A}, {_day(date)}, {date:%H:%M %z}".strip() if date else ""
