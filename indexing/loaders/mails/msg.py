"""Mails as Outlook saves them (.msg, MS-OXMSG), by python-oxmsg."""

from __future__ import annotations

from collections.abc import Iterator
from email.utils import getaddresses
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.loaders import html
from indexing.loaders.charset import decode, one_line
from indexing.loaders.magic import advice, signature
from indexing.loaders.mails.extracts import extracts
from indexing.loaders.mails.mail import Attachment, Mail, Person
from indexing.message import N_

if TYPE_CHECKING:
    from oxmsg import Message
    from oxmsg.attachment import Attachment as OutlookAttachment
    from oxmsg.storage import Storage

SAVE_AGAIN = N_("save it from Outlook again, or as .eml from another mail program")

# Of MS-OXPROPS and MS-OXCMSG.
RECIPIENT_TYPE = 0x0C15
TO, CC = 1, 2
HTML_BODY = 0x1013
DISPLAY_NAME = 0x3001
EMBEDDED = "__substg1.0_3701000D"  # an attached mail (MS-OXMSG, 2.2.2.1)
CONTENT_ID = 0x3712  # of a picture within the words
EMBEDDED_HEADER = 24  # bytes before the properties of an attached mail (MS-OXMSG, 2.4.1)


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The mail, then its attachments.

    Raises:
        UnreadableFile: It is no Outlook mail, is damaged, or all of it is encrypted.
    """
    from olefile.olefile import OleFileError
    from oxmsg import Message

    with path.open("rb") as file:
        match = signature(file.read(4096))
    if match is None or not match.kind.startswith("an old"):
        found = match.kind if match else N_("text or something else")
        other = N_("give it the ending of what it is, such as %(suffix)s", suffix=".eml")
        reason = N_("is %(found)s, not %(wanted)s", found=found, wanted=N_("an Outlook mail"))
        raise UnreadableFile(path, reason, advice(match) if match else other)
    try:
        message = Message.load(str(path))
        mail = _read(path, message)
    except KeyError:
        remedy = N_(
            "give it the ending of what it is, such as %(suffix)s, and save it as %(other)s",
            suffix=".doc",
            other=".docx",
        )
        found = N_("an old Microsoft Office document")
        reason = N_("is %(found)s, not %(wanted)s", found=found, wanted=N_("an Outlook mail"))
        raise UnreadableFile(path, reason, remedy) from None
    except (OleFileError, OSError, ValueError, IndexError) as error:
        details = " ".join(str(error).split())[:100]
        reason = N_("is a damaged %(format)s (%(error)s)", format=N_("Outlook mail"), error=details)
        raise UnreadableFile(path, reason, SAVE_AGAIN) from None
    yield from extracts(path, mail)


def _read(path: Path, message: Message) -> Mail:
    properties = message.properties
    sender = tuple(
        Person(one_line(name).strip(), address)
        for name, address in getaddresses([message.sender or ""])
        if name or address
    )
    secure = "SMIME" in message.message_class.upper() and "SIGNED" not in (
        message.message_class.upper()
    )
    return Mail(
        sender=sender,
        to=_recipients(message, TO),
        copies=_recipients(message, CC),
        date=message.sent_date,
        subject=properties.str_prop_value(0x0037) or "",
        body=_body(path, message),
        attachments=tuple(_attachments(path, message)),
        unread="is encrypted (S/MIME)" if secure else "",
    )


def _recipients(message: Message, kind: int) -> tuple[Person, ...]:
    people = []
    for each in message.recipients:
        if each.properties.int_prop_value(RECIPIENT_TYPE) == kind:
            people.append(Person(one_line(each.name or "").strip(), each.email_address or ""))
    return tuple(people)


def _body(path: Path, message: Message) -> str:
    """The plain text, else what the HTML shows."""
    text = (message.body or "").strip()
    if text:
        return text
    data = message.properties.binary_prop_value(HTML_BODY)
    markup = decode(path, data) if data else message.html_body or ""
    return html.visible(html.parse(markup)).text if markup.strip() else ""


def _attachments(path: Path, message: Message) -> Iterator[Attachment]:
    for each in message.attachments:
        name = one_line(each.file_name or each.properties.str_prop_value(DISPLAY_NAME) or "")
        inner = _embedded(path, each)
        if inner is not None:
            yield Attachment(name or f"{inner.title}.msg", inner)
        elif each.properties.str_prop_value(CONTENT_ID) and _is_picture(each):
            continue
        elif content := each.file_bytes:
            yield Attachment(name or "attachment", content)


def _is_picture(attachment: OutlookAttachment) -> bool:
    return (attachment.mime_type or "").startswith("image/")


def _embedded(path: Path, attachment: OutlookAttachment) -> Mail | None:
    """The mail that an attachment is; None for a file."""
    from oxmsg import Message
    from oxmsg.properties import Properties

    storages: tuple[Storage, ...] = getattr(attachment._storage, "storages", ())
    embedded = [each for each in storages if each.name.upper() == EMBEDDED.upper()]
    if not embedded:
        return None

    class Embedded(Message):
        @property
        def properties(self) -> Properties:
            return Properties(embedded[0], properties_header_offset=EMBEDDED_HEADER)

    return _read(path, Embedded(embedded[0]))
