"""Where the words that answer are in a quote, however the quote is displayed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generator.answer import Answer, Citation, Mode, ShortAnswer, marker_spans
from indexing.text.disfluency import without_noise


@dataclass(frozen=True, slots=True)
class Emphasis:
    """A text in three parts, of which the second stands out; "" where nothing does."""

    before: str
    words: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """The whole text."""
        return self.before + self.words + self.after

    @property
    def shown(self) -> Emphasis:
        """The same without noise such as "{vocalsound}"."""
        if "{" not in self.text:
            return self
        return Emphasis(*map(without_noise, (self.before, self.words, self.after)))

    @property
    def in_one_line(self) -> Emphasis:
        """The same with each run of white space as one space, and none at the ends."""
        line = _collapse(self.text)
        words = self.words.strip()
        if not words:
            return Emphasis(line)
        lead = len(self.words) - len(self.words.lstrip())
        start = len(self.before) + lead
        first = len(_collapse(self.text[: start + 1])) - 1
        last = len(_collapse(self.text[: start + len(words)]))
        return Emphasis(line[:first], line[first:last], line[last:])


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """A line of an answer of quotes."""

    text: Emphasis  # the line without its marker
    marker: int | None = None  # the number of its citation; None for a line that is no quote

    @property
    def own(self) -> str:
        """The marker as it stands in the line; "" for none."""
        return "" if self.marker is None else f" [{self.marker}]"


def emphasis(quote: str, start: int, end: int) -> Emphasis:
    """A quote whose characters from `start` to `end` stand out; none where it has no such words."""
    if not 0 <= start < end <= len(quote) or not quote[start:end].strip():
        return Emphasis(quote)
    return Emphasis(quote[:start], quote[start:end], quote[end:])


def quote_emphasis(citation: Citation, short: ShortAnswer | None) -> Emphasis:
    """A citation's quote, in which the short answer stands out if it lies there."""
    if short is None or (short.marker, short.document) != (citation.marker, citation.document):
        return Emphasis(citation.quote)
    words = emphasis(citation.quote, short.start - citation.start, short.end - citation.start)
    return words if words.words == short.text else Emphasis(citation.quote)


def line_emphasis(line: str, quote: Emphasis) -> Emphasis:
    """A line that ends with a quote, as `format_quote` writes it, without its marker."""
    shown = quote.in_one_line
    if not shown.words or not line.endswith(shown.text):
        return Emphasis(line)
    return Emphasis(line.removesuffix(shown.text) + shown.before, shown.words, shown.after)


def at_markers(text: str, mode: Mode) -> Iterator[tuple[str, int | None]]:
    """An answer cut at its markers: what stands before each, with its number, then the rest."""
    at = 0
    for each in marker_spans(text, mode):
        yield text[at : each.start], each.marker
        at = each.end
    yield text[at:], None


def answer_lines(answer: Answer) -> Iterator[AnswerLine]:
    """The lines of an answer of quotes, the words that answer apart in the line of their quote."""
    quotes = {citation.marker: citation for citation in answer.citations}
    number = 1
    for line in answer.text.split("\n"):
        mark = f" [{number}]"  # a line that is counted or listed may have none
        if number in quotes and line.endswith(mark):
            quote = quote_emphasis(quotes[number], answer.short)
            yield AnswerLine(line_emphasis(line.removesuffix(mark), quote), number)
            number += 1
        else:
            yield AnswerLine(Emphasis(line))


def _collapse(text: str) -> str:
    return " ".join(text.split())
