"""Where the sentences of a text begin and end.

sentencex (Wikimedia, MIT) knows abbreviations, quotes and some 300 languages. Three things are
done around it. Lines are put together first, because a newline means "go on" in a hard-wrapped
paragraph and "stop" after a heading, an item of a list or a line of a transcript. The text goes
to it in windows, because its time grows with the square of the length. White space beyond ASCII
is shown to it as a blank, because its Rust code panics on some of it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from indexing.text.language import LANGUAGES

WINDOW = 8_000  # characters shown to sentencex at once
WRAP_WIDEST = 160  # a hard-wrapped line is not longer than this many characters
ROW_LONGEST = 600  # characters of a table's row that is one sentence, whatever its cells say
WRAP_NARROWEST = 25  # nor is the widest line of a hard-wrapped paragraph shorter than this
WRAP_SHARE = 0.7  # of the width of the text around it, as a table or a poem is

# Scripts written without spaces: Han, Hiragana, Katakana and their punctuation.
UNSPACED = (
    "\u2e80-\u2fdf\u3001-\u312f\u3190-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\uff01-\uffef"
    "\U00020000-\U0003ffff"
)

_LINE = re.compile(r"[^\n]+")
_ODD = re.compile("[^\\S \n\t]|[\ud800-\udfff]")
_STOP = re.compile(r"[.?!]|[^\x00-\x7f]")
_STARTS_ALONE = re.compile(
    r"""\s*(?:
        \#{1,6}\s | >\s | \|                              # heading, quotation, row of a table
      | [-*+\u2022\u2023\u25aa\u2013\u2014]\s             # bullet
      | (?:\d{1,3}[.)] | \(?[A-Za-z]\) | \(?[ivxIVX]{1,5}[.)])\s   # number of an item
      | (?:={3,} | -{3,})$                                # rule, underline
    )""",
    re.VERBOSE,
)
# "OK . So": a stop between blanks, where punctuation is set apart, is no abbreviation.
_APART = re.compile(r"[^\s.?!]\s+[.?!]+\s+(?=[^\s.?!\"'\u201d\u2019)\]])")
_LABEL = re.compile(r"\s*[^\W\d_][\w.'\- ]{0,40}:\s")
_NUMBERING = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3})*|[A-Za-z]|[ivxIVX]{1,5})[.)]")
# "am 25. Oktober", "der 1. Vorsitzende": a number with a stop, which may be an ordinal.
_NUMBERED = re.compile(r"(?<![\w.,:])\d{1,2}\.\s*$")
_OPEN = ",;([&"  # at the end of a line, after which a sentence goes on
_UNSPACED = re.compile(f"[{UNSPACED}]")
_FIRST_WORD = re.compile(r"[^\W\d_]+")


def sentences(text: str, start: int, end: int, language: str = "en") -> list[tuple[int, int]]:
    """Spans of the sentences in `text[start:end]`, in order, trimmed of white space.

    Every character that is not white space lies in one span. A span never begins or ends inside
    a word, except between characters of scripts that are written without spaces.

    Args:
        text: The whole text; spans count its characters.
        start: First character to look at.
        end: One past the last.
        language: ISO 639 code that picks the abbreviations; an unknown one is harmless.
    """
    spans: list[tuple[int, int]] = []
    for first, last in _runs(text, start, end):
        spans.extend(_within(text, first, last, language))
    return spans


def _within(text: str, first: int, last: int, language: str) -> Iterator[tuple[int, int]]:
    """Sentences of one run of lines that belong together; a row of a table is one."""
    if last - first <= ROW_LONGEST and text.find(" | ", first, last) >= 0:
        yield from trimmed(text, first, last)
        return
    begin = first
    for cut in _cuts(text, first, last, language):
        if not _between_words(text, cut) or _NUMBERING.fullmatch(text[begin:cut].strip()):
            continue
        if _is_ordinal(text, begin, cut, last, language):
            continue
        yield from trimmed(text, begin, cut)
        begin = cut
    yield from trimmed(text, begin, last)


def _is_ordinal(text: str, begin: int, cut: int, last: int, language: str) -> bool:
    """Whether a number before a cut belongs to the word after it; no function word begins then."""
    known = LANGUAGES.get(language)
    if known is None or not known.dotted_ordinals or not _NUMBERED.search(text, begin, cut):
        return False
    word = _FIRST_WORD.match(text, cut, last)
    return word is not None and word[0].lower() not in known.stop_words


def _cuts(text: str, first: int, last: int, language: str) -> Iterator[int]:
    """Offsets at which sentencex starts a new sentence, ascending, window by window."""
    while first < last:
        whole = last - first <= WINDOW
        window = text[first : last if whole else _blank_before(text, first + WINDOW, first)]
        if whole and not _STOP.search(window, 0, len(window.rstrip()) - 1):
            return  # nothing can end a sentence before the end
        starts = _starts(window, language)
        yield from (first + at for at in starts)
        if whole:
            return
        if starts:
            first += starts[-1]  # the last one may go on: look at it again
        else:
            first += len(window)


def _starts(window: str, language: str) -> list[int]:
    """Where sentences start in a window, without the first."""
    from sentencex import get_sentence_boundaries

    flat = _ODD.sub(" ", window.replace("\n", " "))
    starts = {int(each["start_index"]) for each in get_sentence_boundaries(language, flat)}
    starts.update(match.end() for match in _APART.finditer(flat))
    return sorted(starts - {0})


def _blank_before(text: str, at: int, first: int) -> int:
    """The last white space in the half before `at`, or `at` where there is none."""
    for place in range(at, first + (at - first) // 2, -1):
        if text[place - 1].isspace():
            return place
    return at


def _between_words(text: str, cut: int) -> bool:
    """Whether white space, or a script without spaces, touches the offset."""
    before, after = text[cut - 1], text[cut]
    return (
        before.isspace()
        or after.isspace()
        or bool(_UNSPACED.match(before) or _UNSPACED.match(after))
    )


def trimmed(text: str, first: int, last: int) -> list[tuple[int, int]]:
    """The span without white space at its ends; none when it is all white space."""
    piece = text[first:last]
    first += len(piece) - len(piece.lstrip())
    return [(first, first + len(piece.strip()))] if piece.strip() else []


def _runs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of lines that one sentence may run through, in order."""
    if text.find("\n", start, end) < 0:
        yield start, end
        return
    lines = [match.span() for match in _LINE.finditer(text, start, end)]
    if not lines:
        return
    widths = _widths(text, lines)
    least = max(WRAP_NARROWEST, WRAP_SHARE * wrap_width(text))
    first = 0
    for number in range(1, len(lines) + 1):
        if number == len(lines) or not _goes_on(text, lines, number, widths[number], least):
            yield lines[first][0], lines[number - 1][1]
            first = number


def _widths(text: str, lines: list[tuple[int, int]]) -> list[int]:
    """For each line, the longest line of its paragraph (lines without a blank one between)."""
    bounds = [
        number
        for number in range(len(lines))
        if number == 0 or lines[number - 1][1] + 1 != lines[number][0]
    ]
    longest = [
        max(last - first for first, last in lines[bound:following])
        for bound, following in zip(bounds, [*bounds[1:], len(lines)], strict=True)
    ]
    return [longest[bisect_right(bounds, number) - 1] for number in range(len(lines))]


@lru_cache(maxsize=8)
def wrap_width(text: str) -> int:
    """How wide the lines of a text are that another line follows: three of four are no wider.

    Of those that may be hard-wrapped; 0 where there is none.
    """
    lengths = sorted(
        len(line)
        for line, following in pairwise(text.split("\n"))
        if len(line) <= WRAP_WIDEST and line.strip() and following.strip()
    )
    return lengths[3 * len(lengths) // 4] if lengths else 0


def _goes_on(
    text: str, lines: list[tuple[int, int]], number: int, width: int, least: float
) -> bool:
    """Whether the line `number` continues the sentence of the line before it."""
    (before, stop), (here, last) = lines[number - 1], lines[number]
    ended, bare = text[before:stop].strip(), text[here:last].strip()
    if stop + 1 != here or not ended or not bare:
        return False  # a blank line between
    if _STARTS_ALONE.match(text, here, last) or ended.startswith("#"):
        return False
    if " | " in ended or " | " in bare:
        return False  # rows of a table
    if bare[0].islower():
        return True
    if _LABEL.match(text, here, last) or not least <= width <= WRAP_WIDEST:
        return False
    # A hard wrap: the first word of this line had no room on the line before.
    word = bare.split(None, 1)[0]
    room = width - (stop - before)
    return ended[-1] in _OPEN or room <= max(len(word) + 1, width // 8)
