"""Content words of a text: stems without stop words and fillers, and their rarity (idf)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

from indexing.text.english import FILLERS, REQUEST_WORDS
from indexing.text.language import ENGLISH, LANGUAGES, stems

_ANNOTATION = re.compile(r"\{[^{}]*\}|<[^<>]*>|\[[a-z ]+\]")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")  # noqa: RUF001 - typographic apostrophe


def words(text: str) -> list[str]:
    """Words in order, in lower case, without annotations such as "{vocalsound}"."""
    return [word.replace("’", "'").lower() for word in _WORD.findall(strip_annotations(text))]  # noqa: RUF001


def strip_annotations(text: str) -> str:
    """The text without annotations of sounds and gaps."""
    return _ANNOTATION.sub(" ", text)


def annotation_spans(text: str) -> list[tuple[int, int]]:
    """Where annotations of sounds and gaps stand."""
    return [found.span() for found in _ANNOTATION.finditer(text)]


def content_words(text: str, language: str = ENGLISH) -> list[str]:
    """The words that carry meaning in a language, in order, with repetitions."""
    empty = LANGUAGES[language].stop_words
    fillers = FILLERS if language == ENGLISH else frozenset[str]()
    return [word for word in words(text) if word not in empty and word not in fillers]


def content_stems(text: str, language: str = ENGLISH) -> list[str]:
    """Stems of the words that carry meaning, in order, with repetitions."""
    return [stem(word, language) for word in content_words(text, language)]


def topic_words(question: str, language: str = ENGLISH) -> list[str]:
    """The content words of a question but for words of asking, each once; all if none is left."""
    content = list(dict.fromkeys(content_words(question, language)))
    return [word for word in content if word not in REQUEST_WORDS] or content


@lru_cache(maxsize=65_536)
def stem(word: str, language: str = ENGLISH) -> str:
    """Snowball's stem in a language; "budget's" counts as "budget"."""
    (stemmed,) = stems([word.removesuffix("'s")], language)
    return stemmed


class Rarity:
    """Inverse document frequency of stems within N texts: log(1 + (1 + N) / (1 + df)).

    It is greatest for a stem that no text holds.
    """

    def __init__(self, texts: Iterable[Collection[str]]) -> None:
        self._document_frequency: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self._document_frequency.update(set(text))
            self._texts += 1

    def of(self, stem: str) -> float:
        """The weight of one stem."""
        return math.log(1 + (1 + self._texts) / (1 + self._document_frequency[stem]))

    def share(self, stems: Collection[str], others: Collection[str]) -> float:
        """The share of distinct stems, weighted by rarity, that is among others; 0 of nothing."""
        distinct = set(stems)
        total = sum(map(self.of, distinct))
        return sum(map(self.of, distinct & set(others))) / total if total else 0.0
