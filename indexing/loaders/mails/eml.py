"""Mails as every mail program but Outlook saves them (RFC 5322), by the standard library."""

from __future__ import annotations

import email
from collections.abc import Iterator
from datetime import datetime
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.loaders import html
from indexing.loaders.charset import decode, one_line
from indexing.loaders.magic import refuse_other_kind
from indexing.loaders.mails.extracts import extracts
from indexing.loaders.mails.mail import Attachment, Mail, Person
from indexing.message import N_

DEEPEST = 50  # parts within parts
HEAD = ("From", "To", "Date", "Subject", "Received", "Message-ID", "Return-Path")
SUFFIXES = {"plain": "txt", "markdown": "md"}  # of files without a name; others are so called
SEALED = ("application/pkcs7-mime", "application/x-pkcs7-mime", "multipart/encrypted")


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The mail, then its attachments.

    Raises:
        UnreadableFile: It is no mail, or all of it is encrypted.
    """
    data = path.read_bytes()
    refuse_other_kind(path, data, N_("a mail"))
    message = email.message_from_bytes(data)
    if not any(name in message for name in HEAD):
        reason = N_("does not begin as a mail does")
        raise UnreadableFile(path, reason, N_("save it from the mail program again"))
    yield from extracts(path, read(path, message))


def read(path: Path, message: Message) -> Mail:
    """What a parsed message says."""
    bodies: dict[str, list[str]] = {"plain": [], "html": []}
    attachments: list[Attachment] = []
    sealed = any(part.get_content_type() in SEALED for part in message.walk())
    for part in _parts(message, 0):
        kind = part.get_content_type()
        if kind == "message/rfc822" and isinstance(inner := _inner(part), Message):
            mail = read(path, inner)
            attachments.append(Attachment(_file_name(part) or f"{mail.title}.eml", mail))
        elif _is_attached(part):
            content = part.get_payload(decode=True)
            subtype = part.get_content_subtype()
            name = _file_name(part) or f"attachment.{SUFFIXES.get(subtype, subtype)}"
            if isinstance(content, bytes) and kind not in SEALED:
                attachments.append(Attachment(name, content))
        elif kind in ("text/plain", "text/html"):
            bodies[part.get_content_subtype()].append(_text(path, part))
    return Mail(
        sender=_people(message, "From"),
        to=_people(message, "To"),
        copies=_people(message, "Cc"),
        date=_date(message),
        subject=_header(message, "Subject"),
        body=_body(bodies["plain"], bodies["html"]),
        attachments=tuple(attachments),
        unread=N_("is encrypted (S/MIME or PGP)") if sealed else "",
    )


def _parts(message: Message, depth: int) -> Iterator[Message]:
    """The parts of a mail that hold something, those of attached mails left in them."""
    payload = message.get_payload()
    whole = message.get_content_maintype() != "multipart"
    if depth > DEEPEST or whole or message.get_content_type() in SEALED:
        yield message
        return
    for part in payload if isinstance(payload, list) else ():
        if isinstance(part, Message):
            yield from _parts(part, depth + 1)


def _inner(part: Message) -> object:
    payload = part.get_payload()
    return payload[0] if isinstance(payload, list) and payload else None


def _is_attached(part: Message) -> bool:
    """Whether a part is a file of its own and not the mail's words or a picture among them."""
    placed = part.get_content_disposition()
    named = bool(part.get_filename())
    if part.get_content_maintype() == "image":
        return placed == "attachment" or (named and "Content-ID" not in part)
    return placed == "attachment" or named or part.get_content_maintype() != "text"


def _body(plain: list[str], markup: list[str]) -> str:
    """The plain text, unless it is empty or far shorter than what the HTML shows."""
    text = "\n\n".join(filter(None, (each.strip() for each in plain)))
    if not markup:
        return text
    shown = "\n\n".join(html.visible(html.parse(each)).text for each in markup).strip()
    return shown if 3 * len(text) < len(shown) else text


def _text(path: Path, part: Message) -> str:
    """The words of a part, in the encoding it names if that holds, else in the one it is in."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip():
        return ""
    try:
        return decode(path, data, declared=part.get_content_charset())
    except UnreadableFile:
        return data.decode("cp1252", "replace")


def _header(message: Message, name: str) -> str:
    """A field of the head, its encoded words (RFC 2047) decoded where they can be."""
    raw = message.get(name)
    return "" if raw is None else one_line(_decoded(str(raw))).strip()


def _decoded(raw: str) -> str:
    try:
        return str(make_header(decode_header(raw)))
    except (MessageError, LookupError, ValueError):  # UnicodeError is a ValueError
        return raw


def _file_name(part: Message) -> str:
    return one_line(_decoded(part.get_filename() or "")).strip()


def _people(message: Message, name: str) -> tuple[Person, ...]:
    fields = [str(each) for each in message.get_all(name, [])]
    pairs = getaddresses(fields)
    return tuple(
        Person(one_line(_decoded(who)).strip(), address.strip())
        for who, address in pairs
        if who or address
    )


def _date(message: Message) -> datetime | None:
    try:
        return parsedate_to_datetime(str(message.get("Date", "")))
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
