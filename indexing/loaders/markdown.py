"""Markdown: the text unchanged, with its headings as borders of passages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Extract, Occasion
from indexing.errors import PartUnread, UnreadableFile
from indexing.loaders.charset import printable, read_text, remarks
from indexing.message import N_
from indexing.text import transcripts
from indexing.text.days.dates import date_in

DATES = ("date", "datum", "created")  # fields of front matter
PEOPLE = ("author", "authors", "participants", "attendees", "people")
TITLE = 300  # characters of a heading that a title is made of

# CommonMark 0.31: 4.5 fenced code blocks, 4.2 ATX headings, 4.3 setext headings.
_LINE = re.compile(r"[^\n]+")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_FRONT_MATTER = re.compile(r"---\n(?P<fields>.*?)\n(?:---|\.\.\.)(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"(?P<name>[A-Za-z][\w -]{0,40}):(?:[ \t]+(?P<value>.*)|[ \t]*$)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>\S.*)")
_EMPHASIS = re.compile(r"\*{1,3}|`|(?<!\w)_{1,3}|_{1,3}(?!\w)")
# A picture as base64 (RFC 2397), which no reader of the page sees as letters.
_PICTURE = re.compile(r"(data:[\w.+-]{1,99}/[\w.+-]{1,99};base64,)[A-Za-z0-9+/=]{200,}")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class _Heading:
    start: int
    words: str


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The text with its marks, without its front matter, which has fields; pictures are cut short.

    The title is that of the front matter, else the first heading.

    Raises:
        UnreadableFile: It is binary, or in no encoding that can be recognised.
    """
    whole, pictures = _PICTURE.subn(r"\1...", read_text(path))
    front = _FRONT_MATTER.match(whole)
    fields = _fields(front["fields"]) if front else {}
    text = whole[front.end() :].lstrip("\n") if front else whole
    if not text.strip():  # nothing but fields
        text = whole
    headings = list(_headings(text))
    yield Extract(
        text,
        title=_title(fields, headings) or printable(path.stem),
        utterances=transcripts.find_utterances(text),
        breaks=tuple(heading.start for heading in headings),
        occasion=_occasion(fields),
    )
    if pictures:
        remedy = N_("save them as files, recognise their text if they have any, and index that")
        yield PartUnread(
            path, N_("has pictures within its text (%(number)s)", number=pictures), remedy
        )
    yield from remarks(path)


def _fields(front: str) -> dict[str, tuple[str, ...]]:
    """The fields of front matter that people write: texts, and lists of texts (YAML 1.2.2, 2.1)."""
    fields: dict[str, tuple[str, ...]] = {}
    name = ""
    for line in front.split("\n"):
        item = _ITEM.match(line)
        if field := _FIELD.match(line):
            name, value = field["name"].lower(), (field["value"] or "").strip()
            listed = value.startswith("[") and value.endswith("]")
            values = value[1:-1].split(",") if listed else [value]
        elif item:
            values = [item["value"]]
        else:
            continue
        words = tuple(filter(None, (each.strip().strip("\"'") for each in values)))
        fields[name] = (fields.get(name, ()) if item else ()) + words
    return fields


def _occasion(fields: Mapping[str, Sequence[str]]) -> Occasion:
    """The date and the people that the front matter names."""
    dates = (date_in(" ".join(fields.get(name, ()))) for name in DATES)
    date = next(filter(None, dates), "")
    people = tuple(dict.fromkeys(one for name in PEOPLE for one in fields.get(name, ())))
    source = "front matter"
    return Occasion(date, source if date else "", people, source if people else "")


def _title(fields: Mapping[str, Sequence[str]], headings: list[_Heading]) -> str:
    """What the front matter or the first heading with words calls the document."""
    if title := " ".join(fields.get("title", ())):
        return title
    return next((heading.words for heading in headings if heading.words), "")


def _headings(text: str) -> Iterator[_Heading]:
    """Headings outside of fenced code, in order."""
    fence = ""
    above: re.Match[str] | None = None  # the line that an underline would make a heading
    for line in _LINE.finditer(text):
        words = line.group()
        mark = _FENCE.match(words)
        if fence or mark:
            fence = _fence_after(fence, mark, words)
            above = None
        elif atx := _ATX.match(words):
            yield _Heading(line.start(), _bare(_without_marks(words[atx.end() :])))
            above = None
        elif above and above.end() + 1 == line.start() and _UNDERLINE.match(words):
            yield _Heading(above.start(), _bare(above.group()))
            above = None
        else:
            above = line if _may_be_underlined(text, line) else None


def _fence_after(fence: str, mark: re.Match[str] | None, words: str) -> str:
    """The fence that is open after a line, "" when none."""
    if not fence:
        return mark[1] if mark else ""
    closes = mark and mark[1].startswith(fence) and not words.strip().strip(fence[0])
    return "" if closes else fence


def _may_be_underlined(text: str, line: re.Match[str]) -> bool:
    """Whether the line is a paragraph of its own, so that dashes below make it a heading."""
    alone = line.start() < 2 or text[line.start() - 2] == "\n"
    return (
        alone
        and not line.group().startswith(("    ", "\t", "|", ">", "- ", "* "))
        and bool(line.group().strip())
    )


def _without_marks(words: str) -> str:
    """Words of a heading without the number signs that may close it."""
    words = words.strip()
    opened = words.rstrip("#")
    return opened.rstrip() if not opened or opened[-1] in " \t" else words


def _bare(words: str) -> str:
    """Words of a heading without emphasis and link targets."""
    return _EMPHASIS.sub("", _LINK.sub(r"\1", words[:TITLE])).strip()
