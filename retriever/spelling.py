"""Misspelled words of a question, and the words of the documents that they probably are.

A word is left alone if a document has it, or a dictionary. Otherwise it is read as the word of the
documents, or the function word, that is fewest edits away (optimal string alignment: insertions,
deletions, substitutions, and swaps of neighbours), that sounds the same ("Hephod" as "Hafod"), or
as two words that stand side by side in the documents ("larkfield" as "lark field"); two are read as
the one that they have ("Apple Garth"). Only documents that the asker may read lend their words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from indexing.index.snapshot import Part, Snapshot
from indexing.message import N_
from indexing.store.view import StoreView
from indexing.text.aliases import sound_of
from indexing.text.language import ENGLISH, LANGUAGES, language_of_question, stems

if TYPE_CHECKING:
    from spellchecker import SpellChecker

_WORD = re.compile(r"(?<![\w.@/\\'’-])[^\W\d_]{3,}(?![\w@/\\]|[.'’-](?!s\b)\w)")  # noqa: RUF001
_LONG = 8  # letters from which two edits make a misspelling
_ANOTHER, _BY_SOUND = 2, 4  # `_Candidate.slip` where a letter stands for another one, or several
_LEAST_SOUND = 4  # letters of a sound that tells words apart
_SHORT = 4  # letters up to which another letter makes another word
_LEAST_HALF = 3  # letters of each half of a word that is written apart
_RARE = 1.5e-7  # share of running text; a dictionary made of subtitles has misspellings, too
_NEAREST = 24  # stems that are looked at


@dataclass(frozen=True, slots=True)
class Correction:
    """A word that was read as another."""

    written: str
    read: str

    def __str__(self) -> str:
        return N_("“%(written)s” read as “%(word)s”", written=self.written, word=self.read)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A word that may be meant; the least is the best.

    A slip is 0 for letters that changed places, 1 for one too many or too few, or two that sound
    the same, 2 for another one: what slips of the hand do often, and seldom; 4 for more that only
    sound the same. One more where the first letters differ.
    """

    edits: int  # from the word that was written
    slip: int
    passages: int  # how many have it, negative
    text: str

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """By which candidates are compared."""
        return self.edits, self.slip, self.passages, self.text


class Spelling:
    """Corrects questions by the words of documents."""

    def __init__(self, store: StoreView, snapshot: Snapshot) -> None:
        self._store = store
        self._languages = tuple(dict.fromkeys((ENGLISH, *snapshot.languages)))
        rows = None if store.scope is None else store.rows()
        self._parts = [(part, _passages_of(part, rows)) for part in snapshot.parts]

    def corrected(
        self, question: str, *, known: frozenset[str] = frozenset()
    ) -> tuple[str, tuple[Correction, ...]]:
        """A question with its misspelled words corrected, and what was changed."""
        changes = self._put_together(question)
        question = _written(question, changes)
        parts = {word.lower() for word in _WORD.findall(question)}
        language = language_of_question(question, [*self._languages, *LANGUAGES])
        spoken = {language, *self._languages}  # "dich" is a word, but not of English
        asks = parts & LANGUAGES[language].stop_words
        function_words = (language,) if asks else self._languages
        for written in dict.fromkeys(_WORD.findall(question)):
            if written.isupper() or written.lower() in known:
                continue
            if read := self._meant(written.lower(), spoken, function_words):
                changes[written] = read
        text = _WORD.sub(lambda match: changes.get(match[0], match[0]), question)
        return text, tuple(Correction(*pair) for pair in changes.items())

    def _put_together(self, question: str) -> dict[str, str]:
        """Neighbours that the documents write as one word, one of which they do not have alone."""
        joined: dict[str, str] = {}
        for first, second in pairwise(_WORD.finditer(question)):
            word, both = f"{first[0]}{second[0]}", (first[0].lower(), second[0].lower())
            apart = question[first.end() : second.start()]
            if apart != " " or len(word) < _LONG or any(map(_is_function_word, both)):
                continue
            if self._number_of_passages(word.lower()) and not all(
                map(self._number_of_passages, both)
            ):
                joined[f"{first[0]} {second[0]}"] = word.capitalize() if word[0].isupper() else word
        return joined

    def _meant(
        self, word: str, spoken: Collection[str], function_words: Collection[str]
    ) -> str | None:
        """What a word of a question probably is, if not itself."""
        if any(word in LANGUAGES[code].stop_words for code in spoken):
            return None
        if self._number_of_passages(word):
            return None
        likely = (one for one in self._candidates(word, function_words) if _begins_alike(word, one))
        found = min(likely, key=lambda one: one.rank, default=None)
        if found is None or found.edits > _most_edits(word):
            return None
        if found.slip >= _ANOTHER and len(word) <= _SHORT:
            return None
        usual = max(frequency(word, language) for language in spoken)
        if usual > _RARE or (usual and (found.edits > 1 or found.slip >= _ANOTHER)):
            return None
        return found.text

    def _candidates(self, word: str, function_words: Collection[str]) -> Iterator[_Candidate]:
        from rapidfuzz.distance import OSA

        def candidate(written: str, meant: str, passages: int, text: str) -> _Candidate:
            one, other = written.replace("ph", "f"), meant.replace("ph", "f")
            edits = OSA.distance(one, other)
            slip = 0 if sorted(one) == sorted(other) else 1 + (len(one) == len(other))
            if edits > 1 and _sound_alike(one, other):
                edits, slip = 1, 1 if edits == 2 else _BY_SOUND
            return _Candidate(edits, slip + (one[0] != other[0]), -passages, text)

        for language in function_words:
            for each in LANGUAGES[language].stop_words:
                if abs(len(each) - len(word)) <= 1 and len(each) >= _LEAST_HALF:
                    yield candidate(word, each, sys.maxsize, each)
        for part, allowed in self._parts:
            for stem, of_word in self._near(word, part).items():
                if found := self._surface(part, allowed, stem):
                    text, passages = found
                    as_written = candidate(word, text.lower(), passages, text)
                    yield as_written
                    whole = stem + word[len(of_word) :]  # in the form that was written
                    is_form = word.startswith(of_word) and stem in self._stems(whole)
                    if as_written.edits > _most_edits(word) and is_form:
                        text = whole
                    of_stems = candidate(of_word, stem, passages, text)
                    if len(stem) > _SHORT and of_stems.edits <= _most_edits(of_word):
                        yield of_stems
        for start in range(_LEAST_HALF, len(word) - _LEAST_HALF + 1):
            if self._stand_together(word[:start], word[start:]):
                yield _Candidate(0, 0, 0, f"{word[:start]} {word[start:]}")

    def _near(self, word: str, part: Part) -> dict[str, str]:
        """Stems of a segment that are few edits from the stem of a word, each with that."""
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        most = 3 + (len(word) >= _LONG)
        return {
            found: stem
            for stem in self._stems(word)
            for found, _, _ in process.extract(
                stem,
                part.segment.lexicon.stems,
                scorer=OSA.distance,
                score_cutoff=most,
                limit=_NEAREST,
            )
        }

    def _surface(
        self, part: Part, allowed: npt.NDArray[np.bool_] | None, stem: str
    ) -> tuple[str, int] | None:
        """A stem as it is written in a passage, and how many passages have it."""
        number = part.segment.lexicon.number(stem)
        units = _units(part, allowed, "passages", number)
        if not len(units):
            return None
        ((_, text),) = self._store.passages_at([int(part.segment.passage_rows[units[0]])])
        for each in re.findall(r"[^\W_]+", text):
            if stem in self._stems(each.lower()):
                return each, len(units)
        return None

    def _number_of_passages(self, word: str) -> int:
        """How many passages have a word, in any of its forms."""
        return sum(
            len(_units(part, allowed, "passages", part.segment.lexicon.number(stem)))
            for part, allowed in self._parts
            for stem in self._stems(word)
        )

    def _stems(self, word: str) -> set[str]:
        """Of a word, in each language of the documents."""
        return {stem for each in self._languages for stem in stems([word], each)}

    def _stand_together(self, first: str, second: str) -> bool:
        """Whether two words follow on each other in a passage."""
        for part, allowed in self._parts:
            lexicon = part.segment.lexicon
            pairs = lexicon.bigrams(lexicon.numbers(f"{first} {second}"))
            if len(pairs) and len(_units(part, allowed, "passage_pairs", int(pairs[0]))):
                return True
        return False


def _is_function_word(word: str) -> bool:
    return any(word in language.stop_words for language in LANGUAGES.values())


def _sound_alike(word: str, other: str) -> bool:
    """Whether two words sound the same, and long enough to tell."""
    sound = sound_of(word)
    return len(sound) >= _LEAST_SOUND and sound == sound_of(other)


def _begins_alike(word: str, one: _Candidate) -> bool:
    """Whether a short word begins as what it may stand for: its first letter is seldom wrong."""
    first = {text.replace("ph", "f")[:1] for text in (word, one.text.lower())}
    return len(word) > _SHORT or one.slip == 0 or len(first) == 1


def _written(question: str, changes: Mapping[str, str]) -> str:
    """A question with words exchanged."""
    for written, read in changes.items():
        question = question.replace(written, read)
    return question


def _most_edits(word: str) -> int:
    """From which another word is no misspelling of one any more."""
    return 1 + (len(word) >= _LONG)


def _units(
    part: Part, allowed: npt.NDArray[np.bool_] | None, name: str, term: int
) -> npt.NDArray[np.int32]:
    """The passages of a segment that have a term and may be read."""
    ((units, _),) = part.segment.postings[name].of(np.array([term], np.int64))
    return units if allowed is None else units[allowed[units]]


def _passages_of(part: Part, rows: list[int] | None) -> npt.NDArray[np.bool_] | None:
    """(passages,) which of a segment are current and in documents of these rows; None for all."""
    live, segment = part.passages.live, part.segment
    if rows is None:
        return live
    owner = np.repeat(np.arange(segment.documents), np.diff(segment.bounds))
    among = np.isin(segment.document_rows, rows)[owner]
    return among if live is None else among & live


def frequency(word: str, language: str) -> float:
    """The share of a word in running text; 0 where the dictionary does not have it."""
    dictionary = _dictionary(language)
    return float(dictionary.word_usage_frequency(word)) if dictionary else 0.0


@lru_cache(maxsize=4)
def _dictionary(language: str) -> SpellChecker | None:
    """The packaged dictionary of a language; None where there is none."""
    from spellchecker import SpellChecker

    try:
        return SpellChecker(language)
    except ValueError:
        return None
