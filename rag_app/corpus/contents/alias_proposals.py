"""Spellings that may be of one name: by their sound, and by the words around them.

Candidates are words that are written with a capital within sentences and never without one, and the
names of speakers. The other spelling is no word of a dictionary. Two are compared where no document
has both as speakers and no sentence has both; what is left is ordered by how alike they sound and
how alike the words around them are. Nothing is applied: people decide, by the quotes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from math import sqrt

from indexing.documents import Document
from indexing.text.aliases import Aliases, sound_of
from indexing.text.language import ENGLISH, LANGUAGES, language_of
from retriever.spelling import frequency

_NAME = re.compile(r"(?<=[\w,;:] )[A-Z][^\W\d_]{2,}(?![\w])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_ORDINARY = 1.5e-7  # share of running text above which a word is no misspelled name
_AROUND = 120  # characters on each side that tell what a name stands beside
_ALIKE = 0.62  # sound below which two are not compared further
_LIKELY = 0.8  # sound and a third of the context, below which two are not proposed


@dataclass(frozen=True, slots=True)
class SpellingQuote:
    """Where a spelling stands: `document.text[start:end] == text`."""

    document: str
    title: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two spellings that may be of one name."""

    name: str  # the one that more is known of: a speaker's, or the more frequent
    spelling: str  # the other
    sound: float  # how alike they sound, 0 to 1
    context: float  # how alike the words around them are, 0 to 1
    name_quote: SpellingQuote  # where the name stands
    spelling_quote: SpellingQuote  # where the other spelling does


@dataclass(slots=True)
class _Seen:
    """What is known of a spelling."""

    quote: SpellingQuote
    times: int = 0
    speaks_in: set[str] = field(default_factory=set)
    around: Counter[str] = field(default_factory=Counter)


def proposals(documents: Iterable[Document], known: Aliases) -> list[Proposal]:
    """Pairs of spellings that may be of one name, the likeliest first."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    seen, small, languages = _seen(documents)
    taken = {*known.names}
    words = [one for one in seen if one.lower() not in small]
    others = {one for one in words if one not in taken}
    for language in sorted(languages):  # one dictionary at a time: they are large
        others = {one for one in others if frequency(one.lower(), language) <= _ORDINARY}
    found = []
    for other in sorted(others):
        nearest = process.extract(
            sound_of(other), [sound_of(one) for one in words],
            scorer=OSA.normalized_similarity, score_cutoff=_ALIKE, limit=12,
        )  # fmt: skip
        for _, heard, at in nearest:
            name = words[at]
            written = OSA.normalized_similarity(name.lower(), other.lower())
            pair = _proposal(name, other, max(heard * 0.9, written), seen, taken)
            found += [pair] if pair and pair.sound + pair.context / 3 >= _LIKELY else []
    found.sort(key=lambda one: (-(one.sound + one.context), one.name, one.spelling))
    best: dict[str, Proposal] = {}
    for one in found:  # each spelling is proposed once, for its likeliest name
        best.setdefault(one.spelling, one)
    return [one for one in best.values() if one.name not in best or best[one.name].name == one.name]


def _proposal(
    name: str, other: str, sound: float, seen: dict[str, _Seen], taken: set[str]
) -> Proposal | None:
    a, b = seen[name], seen[other]
    known_more = (bool(a.speaks_in), a.times, name) > (bool(b.speaks_in), b.times, other)
    apart = name[0].lower() != other[0].lower() and sound_of(name)[:1] != sound_of(other)[:1]
    inflected = name.startswith(other) or other.startswith(name)
    both = a.speaks_in & b.speaks_in or b.around[name.lower()] or a.around[other.lower()]
    if name == other or name in taken or not known_more or apart or inflected or both:
        return None
    return Proposal(name, other, round(sound, 3), round(_cosine(a, b), 3), a.quote, b.quote)


def _seen(documents: Iterable[Document]) -> tuple[dict[str, _Seen], set[str], set[str]]:
    """Names by how they are spelled, all words written without a capital, and the languages."""
    seen: dict[str, _Seen] = {}
    small: set[str] = set()
    languages = {ENGLISH}
    for document in documents:
        text = document.text
        languages.add(language_of(text))
        language = LANGUAGES[language_of(text)]
        small.update(one for one in _WORD.findall(text) if one.islower())
        speakers = {word for name in document.speakers for word in _WORD.findall(name)}
        names = _NAME.finditer(text) if not language.capitalised_nouns else ()
        of_speakers = (
            match
            for word in sorted(speakers)
            for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)
        )
        for match in chain(names, of_speakers):
            if not match[0][0].isupper():
                continue
            start, end = match.span()
            if match[0] not in seen:
                first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
                first, last = max(first, start - 80), min(last if last > 0 else len(text), end + 80)
                quote = SpellingQuote(document.id, document.title, first, last, text[first:last])
                seen[match[0]] = _Seen(quote)
            one = seen[match[0]]
            one.times += 1
            if match[0] in speakers:
                one.speaks_in.add(document.id)
            beside = text[max(start - _AROUND, 0) : start] + " " + text[end : end + _AROUND]
            if one.times <= 200:
                one.around.update(
                    each
                    for each in map(str.lower, _WORD.findall(beside))
                    if each not in language.stop_words
                )
    return seen, small, languages


def _cosine(a: _Seen, b: _Seen) -> float:
    dot = sum(count * b.around[word] for word, count in a.around.items())
    length = sqrt(sum(n * n for n in a.around.values()) * sum(n * n for n in b.around.values()))
    return dot / length if length else 0.0
