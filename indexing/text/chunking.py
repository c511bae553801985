"""Documents into passages of 100 to 200 words, the unit of evidence.

A document is first taken apart into atoms: a few sentences, a short utterance, or a stretch of a
sentence too long for a passage. Each atom knows how good a place its start is to begin a passage
(heading, utterance or paragraph, sentence, between words). Passages are then the cheapest way to
group neighbouring atoms, found exactly by dynamic programming over their starts (the line-breaking
method of Knuth and Plass, "Breaking Paragraphs into Lines", 1981). Time is linear in the length
of the text, because a passage reaches back over a bounded number of atoms.

A word is a run without white space, and 100 characters of a longer one. In scripts written without
spaces two characters count as a word, and a long sentence may be cut between any two words so
counted. So no passage is longer than 100 characters for each word that it may have.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from indexing.documents import Document, Passage
from indexing.errors import InvalidRequest
from indexing.text.language import language_of
from indexing.text.sentences import UNSPACED, sentences, trimmed

# One word: up to two characters of an unspaced script, each with the marks that combine with it,
# and the punctuation that closes it; or a run without white space in any other script.
_MARKS = "\u0300-\u036f\u3099\u309a\ufe00-\ufe0f\U000e0100-\U000e01ef"
_CLOSING = "\u3001\u3002\u300d\u300f\u3011\u3015\u3017\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
LONG = 100  # characters of a run without white space that count as a word
_WORD = re.compile(
    f"(?:[{UNSPACED}][{_MARKS}]{{,20}}){{1,2}}[{_CLOSING}{_MARKS}]{{,20}}|[^\\s{UNSPACED}]{{1,{LONG}}}"
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_BLANK_LINES = re.compile(r"\n(?:[^\S\n]*\n)+")

MANY = 20_000  # atoms of a document that is long


class Place(IntEnum):
    """How good a place is to begin a passage, worst first."""

    WORD = 0
    SENTENCE = 1
    BLOCK = 2
    HEADING = 3


# What it costs to begin a passage there, on the scale of `_misfits`: a whole utterance is worth
# some fifty words more or less than aimed at; no place is worth a passage under the least size.
COST = {Place.WORD: 0.6, Place.SENTENCE: 0.15, Place.BLOCK: 0.0, Place.HEADING: -0.15}
TINY = 1000.0  # what a passage under the least size costs, at least


@dataclass(frozen=True, slots=True)
class _Atom:
    """A span that is never cut, how many words it has, and what its start is."""

    start: int
    end: int
    words: int
    place: Place


def split(document: Document, *, words: int = 150, longest: int = 200) -> list[Passage]:
    """Passages of a document: in order, without overlaps, covering every word.

    Args:
        document: What to split. Its utterances, then its `breaks` and blank lines, then its
            sentences say where a passage may begin.
        words: The size to aim at.
        longest: No passage has more words, or `LONG` times as many characters. The least size lies
            as far below `words` as this lies above, and is kept wherever the text can be cut so.

    Raises:
        InvalidRequest: `words` is under 1 or over `longest`.
    """
    if not 1 <= words <= longest:
        raise InvalidRequest(
            f"a passage of about {words} words, {longest} at most, is impossible; "
            "ask for at least 1 word and for no more than the longest"
        )
    atoms = list(_merged(list(_atoms(document, words, longest)), words, longest))
    groups = _groups(atoms, words, longest)
    return [_passage(document, atoms[first].start, atoms[last].end) for first, last in groups]


def count_words(text: str) -> int:
    """How many words a text has, two characters a word in scripts without spaces."""
    if text.isascii() or not _UNSPACED.search(text):
        words = text.split()
        if len(text) <= LONG or max(map(len, words), default=0) <= LONG:
            return len(words)
    return sum(1 for _ in _WORD.finditer(text))


def _blocks(document: Document) -> Iterator[tuple[int, int, int, Place]]:
    """Utterances, and paragraphs outside of any: start, start of the words, end, place."""
    headings, at = set(document.breaks), 0
    for utterance in document.utterances:
        yield from _paragraphs(document, at, utterance.start)
        place = Place.HEADING if utterance.start in headings else Place.BLOCK
        yield utterance.start, utterance.text_start, utterance.end, place
        at = utterance.end
    yield from _paragraphs(document, at, len(document.text))


def _paragraphs(document: Document, start: int, end: int) -> Iterator[tuple[int, int, int, Place]]:
    """What lies between blank lines and breaks within a span."""
    if start >= end or document.text[start:end].isspace():
        return
    breaks = document.breaks
    inside = breaks[bisect_right(breaks, start - 1) : bisect_right(breaks, end - 1)]
    places = {start: Place.BLOCK}
    places |= {m.end(): Place.BLOCK for m in _BLANK_LINES.finditer(document.text, start, end)}
    places |= dict.fromkeys(inside, Place.HEADING)
    starts = sorted(places)
    for first, last in zip(starts, [*starts[1:], end], strict=True):
        yield first, first, last, places[first]


def _atoms(document: Document, words: int, longest: int) -> Iterator[_Atom]:
    """Every sentence, or the stretches of one that is longer than a passage may be."""
    text, language = document.text, language_of(document.text)
    for start, text_start, end, place in _blocks(document):
        count = count_words(text[start:end])
        small = count * 12 <= words  # a block of so few words is not worth cutting
        spans = (
            trimmed(text, start, end)
            if small
            else _sentences(text, (start, text_start, end), language)
        )
        for number, (first, last) in enumerate(spans):
            count = count_words(text[first:last])
            begins = place if number == 0 else Place.SENTENCE
            if count <= longest and last - first <= longest * LONG:
                yield _Atom(first, last, count, begins)
            else:
                yield from _stretches(text, (first, last), begins, words, longest)


def _sentences(text: str, block: tuple[int, int, int], language: str) -> list[tuple[int, int]]:
    """Sentences of a block (start, start of the words, end), the first with the label before it."""
    start, text_start, end = block
    spans = sentences(text, text_start, end, language)
    if text_start == start:
        return spans
    lead = trimmed(text, start, spans[0][1] if spans else end)
    return [*lead, *spans[1:]]


def _stretches(
    text: str, span: tuple[int, int], place: Place, words: int, longest: int
) -> Iterator[_Atom]:
    """A sentence cut between words: after a sixth of a passage, or a comma past half of that."""
    size, most = max(1, words // 6), longest * LONG
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text, *span):
        if run and word.end() - run[0].start() > most:
            yield _Atom(run[0].start(), run[-1].end(), len(run), place)
            run, place = [], Place.WORD
        run.append(word)
        if len(run) >= size or (2 * len(run) >= size and text[word.end() - 1] in ",;:"):
            yield _Atom(run[0].start(), word.end(), len(run), place)
            run, place = [], Place.WORD
    if run:
        yield _Atom(run[0].start(), run[-1].end(), len(run), place)


def _merged(atoms: list[_Atom], words: int, longest: int) -> Iterator[_Atom]:
    """Atoms with headings put to what follows them, and fewer of them in a long document.

    In a long one, neighbours join until they have a dozen words, so that the grouping weighs a
    bounded number of places a passage.
    """
    pending: _Atom | None = None
    for atom in atoms:
        if pending is None:
            pending = atom
            continue
        joins = len(atoms) > MANY or pending.place == Place.HEADING
        if joins and _join(pending, atom, words, longest):
            pending = _Atom(pending.start, atom.end, pending.words + atom.words, pending.place)
        else:
            yield pending
            pending = atom
    if pending is not None:
        yield pending


def _join(pending: _Atom, atom: _Atom, words: int, longest: int) -> bool:
    """Whether an atom so small takes in the next, which begins at no better place."""
    if pending.words * 12 >= words or pending.words + atom.words > longest:
        return False
    if atom.end - pending.start > longest * LONG:
        return False
    return atom.place <= pending.place


def _groups(atoms: list[_Atom], words: int, longest: int) -> list[tuple[int, int]]:
    """The cheapest grouping of neighbours: first and last atom of each group, in order."""
    misfits = _misfits(words, longest)
    sizes = [atom.words for atom in atoms]
    costs = [COST[atom.place] for atom in atoms]
    starts = [atom.start for atom in atoms]
    best, origin = [0.0], [0]  # best[i]: cost of the first i atoms; origin[i]: where its end begins
    for upto in range(1, len(atoms) + 1):
        cheapest, start, count = float("inf"), upto - 1, 0
        earliest = atoms[upto - 1].end - longest * LONG
        for first in range(upto - 1, -1, -1):
            count += sizes[first]
            if count > longest or (starts[first] < earliest and first < upto - 1):
                break
            cost = best[first] + misfits[count] + costs[first]
            if cost < cheapest:
                cheapest, start = cost, first
        best.append(cheapest)
        origin.append(start)
    groups, upto = [], len(atoms)
    while upto:
        groups.append((origin[upto], upto - 1))
        upto = origin[upto]
    return groups[::-1]


def _misfits(words: int, longest: int) -> list[float]:
    """What a passage of each number of words costs: 0 at `words`, `TINY` and more under the least.

    The index is the number of words, from 0 to `longest`.
    """
    least = max(1, 2 * words - longest)
    return [
        ((count - words) / words) ** 2 + (TINY * (2 - count / least) if count < least else 0)
        for count in range(longest + 1)
    ]


def _passage(document: Document, start: int, end: int) -> Passage:
    """A span with who speaks in it, when, and on which page it begins."""
    utterances = document.utterances_within(start, end)
    return Passage(
        start,
        end,
        speakers=speakers_of(document, start, end),
        time=next((utterance.time for utterance in utterances if utterance.time is not None), None),
        page=document.page_at(start),
    )


def speakers_of(document: Document, start: int, end: int) -> tuple[str, ...]:
    """Everyone who speaks within a span, most words first."""
    words_by_speaker: Counter[str] = Counter()
    for utterance in document.utterances_within(start, end):
        if utterance.speaker is not None:
            words = document.text[max(start, utterance.text_start) : min(end, utterance.end)]
            words_by_speaker[utterance.speaker] += count_words(words)
    return tuple(speaker for speaker, count in words_by_speaker.most_common() if count)
