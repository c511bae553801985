"""Text to terms: lower-cased words, stemmed, as numbers of one vocabulary.

Two kinds of terms are counted: stems without function words, and pairs of neighbouring stems
(bigrams, function words included), which catch names and set phrases that single words miss.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from indexing.text import language as languages
from indexing.text.english import FUNCTION_WORDS, QUESTION_WORDS
from indexing.text.language import ENGLISH, LANGUAGES

IntArray = npt.NDArray[np.int64]

# Words, numbers and single ideographs: a script without spaces has no better unit here.
_WORD = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff]")


def words(text: str) -> list[str]:
    """The words of a text, lower-cased, in order."""
    return _WORD.findall(text.lower())


def without_surrogates(text: str) -> str:
    """A text with "?" for what is no character: bytes of a terminal that are not UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


@dataclass(slots=True)
class Lexicon:
    """Stems and their numbers."""

    stems: list[str] = field(default_factory=list)  # the stem of each number
    # codes of the languages of the texts, in the order of their coming
    languages: list[str] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _by_word: dict[str, dict[str, int]] = field(default_factory=dict)
    _function: set[int] = field(default_factory=set)
    _asking: dict[str, frozenset[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._numbers = {stem: number for number, stem in enumerate(self.stems)}
        self._function = {self._numbers[w] for w in FUNCTION_WORDS if w in self._numbers}

    def learn(self, text: str, language: str = ENGLISH) -> list[int]:
        """Numbers of the words of a text in a language, new stems entered."""
        terms = words(text)
        if language not in self.languages:
            self.languages.append(language)
        by_word = self._by_word.setdefault(language, {})
        unknown = {word for word in terms if word not in by_word}
        if unknown:
            self._enter(sorted(unknown), language)
        return [by_word[word] for word in terms]

    def numbers(self, text: str, language: str = ENGLISH) -> list[int]:
        """Numbers of the words of a query, -1 for a stem that no document has.

        Its words are in the language, or else in one of those of the documents.
        """
        found = words(text)
        numbers = [self._numbers.get(stem, -1) for stem in stems(found, language)]
        for other in self.languages if -1 in numbers else ():
            if other != language:
                others = (self._numbers.get(stem, -1) for stem in stems(found, other))
                numbers = [
                    max(pair) if -1 in pair else pair[0]
                    for pair in zip(numbers, others, strict=True)
                ]
        return numbers

    def words_of_asking(self, language: str) -> frozenset[int]:
        """Numbers of the words that questions in a language ask with."""
        if language not in self._asking:
            plain = QUESTION_WORDS if language == ENGLISH else LANGUAGES[language].stop_words
            self._asking[language] = frozenset(self.numbers(" ".join(plain), language))
        return self._asking[language]

    def known(self, among: Iterable[str]) -> frozenset[str]:
        """Those of some stems that documents have."""
        return frozenset(stem for stem in among if stem in self._numbers)

    def number(self, stem: str) -> int:
        """The number of a stem; -1 where no document has it."""
        return self._numbers.get(stem, -1)

    def _enter(self, new: list[str], language: str) -> None:
        by_word = self._by_word[language]
        self._asking.clear()
        for word, stem in zip(new, stems(new, language), strict=True):
            number = self._numbers.setdefault(stem, len(self.stems))
            if number == len(self.stems):
                self.stems.append(stem)
                if stem in FUNCTION_WORDS:
                    self._function.add(number)
            by_word[word] = number

    def unigrams(self, numbers: Iterable[int]) -> IntArray:
        """Keys of the content words among these numbers, unknown ones left out."""
        keep = [n for n in numbers if n >= 0 and n not in self._function]
        return np.array(keep, np.int64)

    def bigrams(self, numbers: Iterable[int]) -> IntArray:
        """Keys of the neighbouring pairs among these numbers, pairs with unknown ones left out."""
        row = np.fromiter(numbers, np.int64)
        first, second = row[:-1], row[1:]
        known = (first >= 0) & (second >= 0)
        return pair_keys(first[known], second[known])

    def is_function(self) -> npt.NDArray[np.bool_]:
        """(stems,) which numbers are function words."""
        mask = np.zeros(len(self.stems), np.bool_)
        mask[list(self._function)] = True
        return mask


def pair_keys(first: IntArray, second: IntArray) -> IntArray:
    """One number for two, each below 2**31."""
    return (first << 31) | second


def stems(found: list[str], language: str = ENGLISH) -> list[str]:
    """Stems of words. Function words of English keep their form."""
    stemmed = languages.stems(found, language)
    return [w if w in FUNCTION_WORDS else s for w, s in zip(found, stemmed, strict=True)]
