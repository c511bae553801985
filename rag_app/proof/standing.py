"""A quote looked up again in its document as it is now: the same, moved, altered or gone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Literal

from indexing.documents import Document
from indexing.text.language import language_of
from indexing.text.sentences import sentences
from rag_app.surroundings import MARGIN, surroundings

if TYPE_CHECKING:
    from generator.evidence import Sentence

Json = dict[str, Any]
Standing = Literal["same", "moved", "altered", "gone"]

_ANCHOR = 3  # words in a row that say where the words around a quote are now
_BESIDE = 18  # characters, without white space, that say that the same words stand beside a quote
_TELLING = 4  # words of a quote that are looked for anywhere in its document
_ALTERED = 0.4  # share of the words that are kept, between the words that stood around the quote
_ALTERED_ANYWHERE = 0.75  # the same in all of the document
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QuoteNow:
    """What became of a quote."""

    # "same" at its place; "moved" with all its words, to another place, page or time; "altered"
    # where other words stand in its place, or somebody else says them; or "gone"
    standing: Standing
    start: int = 0  # first character, in the document as it is now; 0 where it is gone
    end: int = 0  # one past the last
    text: str = ""  # what stands there, white space as it is; "" where it is gone
    label: str | None = None  # who says that, as the file spells it


def around(document: Document, start: int, end: int, margin: int = MARGIN) -> Json:
    """What is kept to find a quote again: who says it, and what stands around it."""
    first, last = surroundings(document.text, start, end, margin)
    return {
        "label": place_at(document, start)["label"],
        "before": document.text[first:start],
        "after": document.text[end:last],
    }


def place_at(document: Document, start: int) -> Json:
    """Who speaks at a character, as the file spells it; the time of that, and the page."""
    utterance = document.utterance_at(start)
    return {
        "label": utterance.label if utterance else None,
        "time_seconds": utterance.time if utterance else None,
        "page": document.page_at(start),
    }


def look_up(quote: Mapping[str, Any], document: Document | None) -> QuoteNow:
    """Look a quote up again, in its document as it is now; None where that is no longer there.

    It is a citation as JSON. With what `around` gives it is found more surely.
    """
    if document is None or (span := _found(quote, document)) is None:
        return QuoteNow("gone")
    text, place = document.text[slice(*span)], place_at(document, span[0])
    utterance = document.utterance_at(span[0])
    said = _said_by(quote)
    if utterance is None:  # no speaker is known there, but a name may stand before it
        theirs = said is None or said in document.text[max(span[0] - MARGIN, 0) : span[0]]
    else:
        theirs = said in {None, utterance.label, utterance.speaker}
    standing: Standing = "moved"
    if not theirs or text.split() != quote["quote"].split():
        standing = "altered"
    elif span == (quote["start"], quote["end"]) and all(
        quote.get(name) == place[name] for name in ("time_seconds", "page")
    ):
        standing = "same"
    return QuoteNow(standing, span[0], span[1], text, place["label"])


def _said_by(quote: Mapping[str, Any]) -> str | None:
    """Whose words a quote was, as the file spelled it; None for nobody's that is known."""
    said: str | None = quote["label"] if "label" in quote else quote.get("speaker")
    return said


def _found(quote: Mapping[str, Any], document: Document) -> tuple[int, int] | None:
    """Where a quote, or what stands in place of it, is now."""
    text = document.text
    at = _stands(quote, text) or _in_place_of(quote, document) or _anywhere(quote, text)
    if at is None or at[0] == quote["start"] or _sides(quote, text, at) == 2:
        return at
    first, last = _sentences_at(document, *at)
    said = _said_by(quote)
    named = said is not None and text[first : at[0]].strip().rstrip(":") == said
    return (at[0] if named else first), last  # who says it is none of the words


def _sentences_at(document: Document, start: int, end: int) -> tuple[int, int]:
    """The whole sentences that a span lies in: more words may make them say something else."""
    near = _sentences_near(document, start, end)
    within = [one for one in near if one.start < end and start < one.end]
    return min(start, *(one.start for one in within)), max(end, *(one.end for one in within))


def _sentences_near(document: Document, start: int, end: int) -> list[Sentence]:
    """Those of a span and around it; NumPy is loaded for them alone."""
    from generator.evidence import Span, evidence_sentences

    return evidence_sentences([Span(document, *surroundings(document.text, start, end), 0.0)])


def _occurrences(words: str, text: str) -> list[tuple[int, int]]:
    """Where these words stand, whatever white space is between them."""
    pattern = r"\s+".join(map(re.escape, words.split()))
    return [one.span() for one in re.finditer(rf"(?<!\w){pattern}(?!\w)", text)] if pattern else []


def _stands(quote: Mapping[str, Any], text: str) -> tuple[int, int] | None:
    """The quote at its place, or else between words that stood around it."""
    start, end = quote["start"], quote["end"]
    if text[start:end] == quote["quote"]:
        return start, end
    found = [(_sides(quote, text, one), one) for one in _occurrences(quote["quote"], text)]
    near = [(-sides, abs(one[0] - start), one) for sides, one in found if sides]
    return min(near)[2] if near else None


def _sides(quote: Mapping[str, Any], text: str, at: tuple[int, int]) -> int:
    """On how many sides of a span there are the words that stood around a quote: 0 to 2."""
    before = "".join(quote.get("before", "").split())[-_BESIDE:]
    after = "".join(quote.get("after", "").split())[:_BESIDE]
    now_before = "".join(text[max(at[0] - 4 * _BESIDE, 0) : at[0]].split())
    now_after = "".join(text[at[1] : at[1] + 4 * _BESIDE].split())
    return bool(before and now_before.endswith(before)) + bool(
        after and now_after.startswith(after)
    )


def _anywhere(quote: Mapping[str, Any], text: str) -> tuple[int, int] | None:
    """The words of the quote nearest to its place, unless they are too few to tell."""
    if len(quote["quote"].split()) < _TELLING:
        return None
    found = _occurrences(quote["quote"], text)
    return min(found, key=lambda span: abs(span[0] - quote["start"]), default=None)


def _in_place_of(quote: Mapping[str, Any], document: Document) -> tuple[int, int] | None:
    """The sentences that stand in place of a quote, if enough of its words are kept in them."""
    if between := _between(quote, document.text):
        first, last = between
        for start, end in _occurrences(quote["quote"], document.text[first:last]):
            return first + start, first + end
        if found := _most_alike(quote["quote"], document, between, _ALTERED):
            return found
    if len(quote["quote"].split()) < _TELLING or _anywhere(quote, document.text):
        return None
    whole = 0, len(document.text)
    return _most_alike(quote["quote"], document, whole, _ALTERED_ANYWHERE)


def _most_alike(
    quote: str, document: Document, within: tuple[int, int], least: float
) -> tuple[int, int] | None:
    """The sentences within a span that keep most words of a quote, if these are enough."""
    first, last = within
    found = [
        one
        for one in _sentences_near(document, first, last)
        if 2 * (min(one.end, last) - max(one.start, first)) > one.end - one.start
    ]
    count = len(sentences(quote, 0, len(quote), language_of(document.text)))
    runs = [
        found[at : at + length]
        for length in range(max(count - 1, 1), count + 2)
        for at in range(len(found) - length + 1)
    ]
    words = _WORD.findall(quote)
    best = max(runs, key=lambda run: _kept(words, run), default=[])
    return (best[0].start, best[-1].end) if best and _kept(words, best) >= least else None


def _kept(words: Sequence[str], run: Sequence[Sentence]) -> float:
    """The share of words that stand in sentences, in order; 0 to 1."""
    from rapidfuzz.distance import Indel

    now = [word for one in run for word in _WORD.findall(one.text)]
    return Indel.normalized_similarity(words, now)


def _between(quote: Mapping[str, Any], text: str) -> tuple[int, int] | None:
    """Where what stood around a quote begins and ends now; None if that is unknown, or gone."""
    from rapidfuzz.fuzz import partial_ratio_alignment

    before, after = quote.get("before", ""), quote.get("after", "")
    whole = before + quote["quote"] + after
    near = partial_ratio_alignment(whole, text) if before or after else None
    if near is None:
        return None
    room = 2 * len(quote["quote"]) + MARGIN
    low, high = max(near.dest_start - room, 0), near.dest_end + room
    old = [*_WORD.finditer(whole)]
    new = [*_WORD.finditer(text, low, high)]
    blocks = SequenceMatcher(
        None, [one[0] for one in old], [one[0] for one in new], autojunk=False
    ).get_matching_blocks()
    first = last = None
    for block in blocks:
        if block.size < _ANCHOR:
            continue
        for step in range(block.size):
            word, now = old[block.a + step], new[block.b + step]
            if word.end() <= len(before):
                first = now.end()
            elif word.start() >= len(before) + len(quote["quote"]) and last is None:
                last = now.start()
    if first is None:
        return None if last is None else (max(last - room, 0), last)
    return first, min(first + room, len(text)) if last is None else last
