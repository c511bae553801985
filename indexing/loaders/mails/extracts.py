"""The documents of a mail: its head and words, then what is attached to it, named after the mail.

Attached pictures are figures of the mail; where an OCR engine was named, what it reads in one is a
document, too. What `eml.py` and `msg.py` read out of their files goes through here.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from indexing.documents import Extract, Figure, Occasion
from indexing.errors import OtherKind, PartUnread, UnreadableFile
from indexing.loaders.charset import clean, one_line
from indexing.loaders.draft import Draft
from indexing.loaders.faults import unreadable
from indexing.loaders.figures import Gallery
from indexing.loaders.mails.mail import PICTURES, Mail, day_of
from indexing.loaders.mails.quoted import with_quoted
from indexing.message import N_, Message
from indexing.ocr.recognition import current

DEEPEST = 5  # mails attached to mails
MOST_NAMED = 20  # attachments that are named where they are not read
MOST = 1_000  # attachments of a mail that are read
STEM = 100  # characters of an attachment's name that its file has

HEAD = "head of the mail"  # as the source of its date and people

_UNUSABLE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_FIELDS = ("From", "To", "Cc", "Date", "Subject")


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
        remedy = N_("open it in a mail program that has the key, and save its text")
        raise UnreadableFile(path, mail.unread, remedy)
    yield replace(_head_and_body(mail), part=part)
    if mail.unread:
        yield PartUnread(path, mail.unread, N_("save that part from a mail program and index it"))
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
        reason = N_("has attachments that are not read (%(which)s)", which=_listed(left_out))
        yield PartUnread(
            path, reason, N_("save them from a mail program and convert them, if wanted")
        )
    if pictures:
        reason = N_(
            "has attached pictures, whose words are not read (%(which)s)", which=_listed(pictures)
        )
        yield PartUnread(
            path, reason, N_("if there are words in them, index it with --ocr rapidocr")
        )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _head_and_body(mail: Mail) -> Extract:
    """The head as lines of text, so that it can be found and quoted, then the words.

    Mails that it quotes follow, each on a page of its own that says whose and of which day it is.
    """
    draft = Draft()
    for number, one in enumerate(with_quoted(replace(mail, body=clean(mail.body))), start=1):
        draft.separate("\n\n" if number > 1 else "")
        _write(draft, one, number)
    extract = draft.extract(mail.title)
    return replace(extract, occasion=_occasion(mail), figures=_figures(mail, len(extract.text)))


def _write(draft: Draft, mail: Mail, number: int) -> None:
    """A mail on a page."""
    values = (
        ", ".join(map(str, mail.sender)),
        ", ".join(map(str, mail.to)),
        ", ".join(map(str, mail.copies)),
        _moment(mail.date),
        mail.title if mail.subject.strip() else "",
    )
    start = None
    for name, value in zip(_FIELDS, values, strict=True):
        if value:
            draft.separate("\n")
            at = draft.write(f"{name}: {one_line(value)}")
            start = at if start is None else start
    if body := mail.body.strip():
        draft.separate("\n\n")
        at = draft.write(body)
        draft.heading_at(at)
        start = at if start is None else start
    draft.page(start or 0, number, one_line(mail.place))


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
                raise UnreadableFile(path, N_("is empty"), N_("ask for it again"))
            yield from LOADERS[suffix].load(file)
        except OtherKind as error:
            if suffix not in PICTURES:  # most pictures are photographs, without words
                yield error
        except (MemoryError, RecursionError):
            raise
        except UnreadableFile as error:
            yield error
        except Exception as error:  # as of a file, in `__main__`
            verb = N_("read as %(format)s", format=Message(LOADERS[suffix].format))
            yield unreadable(path, error, verb=verb, remedy=N_("ask for it again"))


def _named(
    path: Path, mail: Mail, name: str, whole: str, extracts: Iterator[Extract | UnreadableFile]
) -> Iterator[Extract | UnreadableFile]:
    """Documents named after the mail; what is wrong with one concerns that part alone."""
    try:
        for each in extracts:
            if isinstance(each, UnreadableFile):
                yield PartUnread(path, _of_attachment(name, each.reason), each.remedy)
                continue
            if not each.text.strip():
                reason = _of_attachment(name, N_("holds no text"))
                yield PartUnread(path, reason, N_("see what it is"))
                continue
            inner = each.part.removeprefix(whole).strip("/")
            part = f"{whole}/{inner}" if inner else whole
            is_mail = any(page.name.startswith("mail") for page in each.pages)
            title = each.title if is_mail else f"{name}{f' ({inner})' if inner else ''}"
            when = each.occasion or _occasion(mail)
            yield replace(each, part=part, title=f"{mail.title}: {title}", occasion=when)
    except UnreadableFile as error:
        yield PartUnread(path, _of_attachment(name, error.reason), error.remedy)


def _of_attachment(name: str, reason: str) -> Message:
    """What is wrong with an attachment, or with one of the mail that it is."""
    if isinstance(reason, Message) and "attachment" in reason.arguments:
        name, reason = f"{name}/{reason.arguments['attachment']}", reason.arguments["reason"]
    return N_("its attachment %(attachment)s %(reason)s", attachment=name, reason=reason)


def _unused(name: str, counts: dict[str, int]) -> str:
    """The name, with a number before its suffix where the mail has used it already."""
    unused = name
    while unused in counts:
        counts[name] += 1
        file = Path(name)
        unused = f"{file.stem}-{counts[name]}{file.suffix}"
    counts[unused] = 1
    return unused


def _moment(date: datetime | None) -> str:
    """A date as people write it: "Tuesday, 3 March 2026, 14:05 +0100"."""
    if date is None:
        return ""
    is_day = date.tzinfo is None and (date.hour, date.minute) == (0, 0)
    return f"{date:%A}, {day_of(date)}" + ("" if is_day else f", {date:%H:%M %z}".rstrip())
