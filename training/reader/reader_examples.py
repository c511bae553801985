"""Examples for the reader: crops with an answer, and questions that a stretch does not answer."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from reader_data import LONGEST, QUESTION, Data, Example, Meetings, Passage, Query, Question

Vectors = NDArray[np.float32]

ANSWERED = {  # how often a question with its answer comes in a pass
    "squadshifts-amazon_reviews": 0.7,
    "squadshifts-reddit": 0.7,
    "squadshifts-new_wiki": 0.8,
    "squad2-half": 1.2,
    "nq-open": 1.0,
    "everyday": 0.35,
    "everyday-german": 0.5,
    "speech": 0.4,
    "natural": 1.0,
    "natural-german": 1.0,
    "natural-speech": 1.0,
}
NEAR_MISS = {  # how often somebody's near miss comes in a pass
    "squad2-half": 1.5,
    "everyday": 0.4,
    "everyday-german": 0.4,
    "speech": 0.2,
    "natural": 1.0,
    "natural-german": 1.0,
    "natural-speech": 1.0,
}
CHANGED = {  # how often it comes with a name, number or word changed, where it can be
    "squadshifts-amazon_reviews": 0.08,
    "squadshifts-reddit": 0.12,
    "squadshifts-new_wiki": 0.4,
    "squad2-half": 0.8,
    "nq-open": 0.2,
    "everyday": 0.1,
    "everyday-german": 0.0,
    "speech": 0.05,
    "natural": 0.15,
    "natural-german": 0.0,
    "natural-speech": 0.1,
}
NEW = frozenset(
    {"everyday", "everyday-german", "speech", "natural", "natural-german", "natural-speech"}
)
"""Sources that were written for this project."""
WITHOUT = 0.07  # how often it comes without the sentence that answers

_LIMITS = (70, 110, 170)  # tokens of a stretch

_OPPOSITES = (
    "first last|most least|largest smallest|biggest smallest|highest lowest|before after|"
    "north south|northern southern|east west|eastern western|increase decrease|"
    "increased decreased|male female|men women|man woman|win lose|won lost|older younger|"
    "oldest youngest|more less|more fewer|higher lower|started ended|start end|began ended|"
    "begin end|best worst|always never|with without|larger smaller|longest shortest|"
    "earliest latest|early late|legal illegal|good bad|major minor|rich poor|inside outside|"
    "above below|allowed forbidden|like dislike|liked disliked|likes dislikes|cause prevent|"
    "caused prevented|son daughter|mother father|husband wife|brother sister|king queen|"
    "positive negative|strong weak|cheap expensive|buy sell|easy difficult|public private|"
    "possible impossible|same different|new old|long short|right wrong|summer winter"
)
_NEGATED = re.compile(r"\b(is|are|was|were|did|does|do|can|could|should|would|has|have|will)\b")
_NUMBER = re.compile(r"\b\d[\d,.]*\b")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w'-]+(?: (?:of |the )?[A-Z][\w'-]+)*")
_MONTHS = ("January", "April", "July", "September", "November")
_MONTH = re.compile(
    r"\b(January|February|March|April|May|June|July|August|September|October|November|December)\b"
)


def _opposites() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for pair in _OPPOSITES.split("|"):
        one, other = pair.split()
        found[one].append(other)
        found[other].append(one)
    return found


@dataclass(frozen=True)
class Near:
    """What stands near each other, by the vectors of the packaged encoder.

    Attributes:
        questions: (n, d) of the questions to train on, then those to judge on.
        passages: (m, d).
    """

    questions: Vectors
    passages: Vectors


def order_windows(meetings: Meetings, queries: Vectors, windows: Vectors) -> None:
    """Gives each query its meeting's windows, nearest first."""
    starts = np.cumsum([0, *map(len, meetings.windows)])
    for query, vector in zip([*meetings.train, *meetings.held], queries, strict=True):
        own = windows[starts[query.meeting] : starts[query.meeting + 1]]
        query.windows.extend(int(i) for i in np.argsort(-(own @ vector), kind="stable"))


class Examples:
    """Makes examples of questions on passages.

    Args:
        data: The questions.
        encode: Gives the token ids of a changed question.
    """

    def __init__(self, data: Data, encode: Callable[[str], list[int]]) -> None:
        self.data, self._encode = data, encode
        self._opposites = _opposites()
        self._titles: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, passage in enumerate(data.passages):
            self._titles[passage.source, passage.title].append(number)
        self._held = {question.passage for question in data.held}
        self._names = {key: self._all_names(numbers) for key, numbers in self._titles.items()}

    def _all_names(self, numbers: Sequence[int]) -> list[str]:
        texts = [self.data.passages[number].text for number in numbers]
        return sorted({name for text in texts for name in _NAME.findall(text)})

    def is_held(self, number: int) -> bool:
        """Whether questions to judge on are of this passage."""
        return number in self._held

    def of_title(self, passage: Passage) -> list[int]:
        """Numbers of the passages of the same article or set that are trained on."""
        same = self._titles[passage.source, passage.title]
        return [number for number in same if not self.is_held(number)]

    # --- with an answer ---

    def answered(self, question: Question, rng: random.Random, limit: int | None = None) -> Example:
        """A crop around one of its answers."""
        passage = self.data.passages[question.passage]
        (first, _), (last, _) = rng.choice(question.answers)
        chosen = _crop(passage, first, last, limit or _limit(passage, rng), rng)
        return self._example(question, passage, chosen, "answered")

    def near_miss(
        self, question: Question, rng: random.Random, limit: int | None = None
    ) -> Example:
        """A person's question that its passage does not answer."""
        passage = self.data.passages[question.passage]
        at = rng.randrange(len(passage.ids))
        chosen = _crop(passage, at, at, limit or _limit(passage, rng), rng)
        example = self._example(question, passage, chosen, "near miss")
        return example if passage.source in NEW else _without_relevance(example)

    # --- without one ---

    def beside(
        self, question: Question, order: Sequence[int], rng: random.Random
    ) -> Example | None:
        """The question beside one of some passages that lacks the answer's words."""
        right = [i for i in order if i != question.passage and self._lacks(i, question.words)]
        if not right:
            return None
        own = self.data.passages[question.passage]
        passage = self.data.passages[right[int(len(right) * rng.random() ** 2)]]
        at = rng.randrange(len(passage.ids))
        chosen = _crop(passage, at, at, _limit(own, rng), rng)
        return self._example(replace(question, answers=()), passage, chosen, "other passage")

    def _lacks(self, number: int, words: Sequence[str]) -> bool:
        text = self.data.passages[number].text.lower()
        return not any(each in text for each in words)

    def without(self, number: int, rng: random.Random) -> Example | None:
        """The passage without the sentences that have the answer or its words."""
        question = self.data.train[number]
        passage = self.data.passages[question.passage]
        gone = {i for (first, _), (last, _) in question.answers for i in range(first, last + 1)}
        for i, spans in enumerate(passage.spans):
            text = passage.text[spans[0][0] : spans[-1][1]].lower() if spans else ""
            if any(len(words) > 3 and words in text for words in question.words):
                gone.add(i)
        (first, _), (last, _) = rng.choice(question.answers)
        kept = [i for i in _crop(passage, first, last, LONGEST, rng) if i not in gone]
        if len(kept) < 2:
            return None
        return self._example(replace(question, answers=()), passage, kept, "without")

    def changed(self, number: int, rng: random.Random) -> Example | None:
        """The question with something in it exchanged, beside its own passage."""
        question = self.data.train[number]
        passage = self.data.passages[question.passage]
        text = self._exchanged(question, passage, rng)
        if text is None:
            return None
        ids = self._encode(text)[:QUESTION]
        (first, _), (last, _) = rng.choice(question.answers)
        chosen = _crop(passage, first, last, _limit(passage, rng), rng)
        new = replace(question, text=text, ids=ids, answers=())
        return _without_relevance(self._example(new, passage, chosen, "changed"))

    def _exchanged(self, question: Question, passage: Passage, rng: random.Random) -> str | None:
        """The question's text with a name, number, month or word exchanged, or negated."""
        text = question.text
        options: list[str] = []
        for match in _NAME.finditer(text):
            options += self._renamed(text, match, passage, rng)
        for match in _NUMBER.finditer(text):
            options.append(_put(text, match, _other_number(match.group(), rng)))
        for match in _MONTH.finditer(text):
            options.append(_put(text, match, rng.choice(_MONTHS)))
        for match in re.finditer(r"[a-z]+", text):
            if match.group() in self._opposites:
                options.append(_put(text, match, rng.choice(self._opposites[match.group()])))
        negated = _NEGATED.search(text)
        if negated and " not " not in text and "n't" not in text and rng.random() < 0.15:
            options.append(f"{text[: negated.end()]} not{text[negated.end() :]}")
        options = [one for one in options if one != text]
        return rng.choice(options) if options else None

    def _renamed(
        self, text: str, match: re.Match[str], passage: Passage, rng: random.Random
    ) -> list[str]:
        """The text with another name of the same article: mostly one of another passage."""
        names = self._names[passage.source, passage.title]
        within = set(_NAME.findall(passage.text))
        here = rng.random() < 0.25
        parts = set(match.group().split())
        for _ in range(12 if names else 0):
            name = rng.choice(names)
            alike = (" " in name) == (" " in match.group()) and not parts & set(name.split())
            if alike and (name in within) == here and name not in text:
                return [_put(text, match, name)]
        return []

    # --- putting together ---

    def _example(
        self, question: Question, passage: Passage, chosen: Sequence[int], kind: str
    ) -> Example:
        example = joined(question.ids, passage, chosen, kind, self.data.cls, self.data.sep)
        starts = dict(zip(chosen, (start for start, _ in example.places), strict=True))
        example.question = question
        relevant = [False] * len(chosen)
        for (first, a), (last, b) in question.answers:
            if first in starts and last in starts:
                example.answers.append((starts[first] + a, starts[last] + b))
                for i, sentence in enumerate(chosen):
                    relevant[i] = relevant[i] or first <= sentence <= last
        example.relevant = relevant
        return example


def joined(
    question: Sequence[int],
    passage: Passage,
    chosen: Sequence[int],
    kind: str,
    cls: int,
    sep: int,
) -> Example:
    """`[CLS] question [SEP] stretch [SEP]`, the stretch being some of a passage's sentences."""
    ids = [cls, *question, sep]
    example = Example(ids, len(ids), [], [], None, kind)
    for number in chosen:
        ids += passage.labels[number]
        example.spans += [(0, 0)] * len(passage.labels[number])
        example.places.append((len(ids), len(ids) + len(passage.ids[number])))
        ids += passage.ids[number]
        example.spans += passage.spans[number]
    ids.append(sep)
    return example


def _without_relevance(example: Example) -> Example:
    """Without saying which sentences are relevant: those of a near miss are, in a way."""
    return replace(example, relevant=None)


def meeting_example(query: Query, meetings: Meetings, number: int, data: Data) -> Example:
    """One window of its meeting beside a question."""
    window = meetings.windows[query.meeting][number]
    chosen = range(len(window.ids))
    example = joined(query.ids, window, chosen, "meeting", data.cls, data.sep)
    example.relevant = query.marked[number]
    example.question = query
    return example


def times(share: float, rng: random.Random) -> int:
    """The share, rounded up or down at random."""
    return int(share) + (rng.random() < share % 1)


def _limit(passage: Passage, rng: random.Random) -> int:
    """Tokens of a stretch.

    Short ones are quick to learn from. Those of SQuAD 2.0 are long: where a near miss lies is not
    known, so a short one may be no near miss; and its other questions must not differ in length.
    """
    return LONGEST if passage.source in {"squad2-half", *NEW} else rng.choice(_LIMITS)


def _crop(passage: Passage, first: int, last: int, limit: int, rng: random.Random) -> list[int]:
    """Neighbouring sentences around some, as many as have room."""
    sizes = [len(ids) + len(label) for ids, label in zip(passage.ids, passage.labels, strict=True)]
    low, high = first, last + 1
    size = sum(sizes[low:high])
    while True:
        sides = []
        if low > 0 and size + sizes[low - 1] <= limit:
            sides.append(-1)
        if high < len(sizes) and size + sizes[high] <= limit:
            sides.append(1)
        if not sides:
            return list(range(low, high))
        if rng.choice(sides) < 0:
            low -= 1
            size += sizes[low]
        else:
            size += sizes[high]
            high += 1


def _put(text: str, match: re.Match[str], other: str) -> str:
    return f"{text[: match.start()]}{other}{text[match.end() :]}"


def _other_number(number: str, rng: random.Random) -> str:
    """A year becomes one nearby, another number one of about its size."""
    value = int(re.sub(r"\D", "", number)[:9])
    if len(number) == 4 and 1000 <= value <= 2100:
        return str(value + rng.choice((-1, 1)) * rng.randint(1, 40))
    other = rng.randint(2, 2 * value + 8)
    return str(other + (other == value))
