"""The words of a text as this package compares them: stems, stop words, rarity."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

from indexing.text.english import ASKING, snowball

_ANNOTATION = re.compile(r"\{[^{}]*\}|<[^<>]*>|\[[a-z ]+\]")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")  # noqa: RUF001 - typographic apostrophe

_STOP_WORDS = """
    a about above after again against all am an and any are as at be because been before being
    below between both but by can could did do does doing down during each either few for from
    further had has have having he her here hers herself him himself his how i if in into is it
    its itself just let me more most my myself no nor not now of off on once only or other our
    ours ourselves out over own same shall she should so some such than that the their theirs
    them themselves then there these they this those through to too under until up very was we
    were what when where whether which while who whom whose why will with would you your yours
    yourself yourselves s t d ll m re ve"""
_FILLERS = """
    ah alright anyway basically cuz er erm gonna guess hey hm hmm huh kay kind know like mean
    mhm mm mmm nah nope oh ok okay really right so sort sure thing things think uh uhm um wanna
    well wow yeah yep yes yup"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
FILLERS = frozenset(_FILLERS.split())


def words(text: str) -> list[str]:
    """Words in order, lower case, without annotations such as "{vocalsound}"."""
    return [word.replace("’", "'").lower() for word in _WORD.findall(spoken(text))]  # noqa: RUF001


def spoken(text: str) -> str:
    """The text without annotations of sounds and gaps."""
    return _ANNOTATION.sub(" ", text)


def content_words(text: str) -> list[str]:
    """The words that carry meaning, in order, with repetitions."""
    return [word for word in words(text) if word not in STOP_WORDS and word not in FILLERS]


def content_stems(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, with repetitions."""
    return [stem(word) for word in content_words(text)]


def topic_words(question: str) -> list[str]:
    """What a question is about, each word once; all that carries meaning where it only asks."""
    every = list(dict.fromkeys(content_words(question)))
    return [word for word in every if word not in ASKING] or every


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Snowball's English stem; "budget's" counts as "budget"."""
    (stemmed,) = snowball([word.removesuffix("'s")])
    return stemmed


class Rarity:
    """How much a stem tells within a set of texts: log(1 + (1 + N) / (1 + texts that hold it)).

    A stem that no text holds tells most.
    """

    def __init__(self, texts: Iterable[Collection[str]]) -> None:
        self._held: Counter[str] = Counter()
        self._texts = 0
        for stems in texts:
            self._held.update(set(stems))
            self._texts += 1

    def of(self, stem: str) -> float:
        """The weight of one stem."""
        return math.log(1 + (1 + self._texts) / (1 + self._held[stem]))

    def share(self, wanted: Collection[str], found: Collection[str]) -> float:
        """The share of `wanted`, weighted by rarity, that is among `found`; 0 of nothing."""
        distinct = set(wanted)
        total = sum(map(self.of, distinct))
        return sum(map(self.of, distinct & set(found))) / total if total else 0.0
