"""The two generated tasks of LongEmbed: passkey and needle (Zhu et al., arXiv 2404.12096, sec. 3).

At each length there are 100 documents and 50 queries, each answered by one of the documents. The
length is set in words: 0.75 words a token. Everything follows from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from indexing.documents import Document
from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.laboratory.datasets.facts import Fact, facts, names
from rag_app.laboratory.datasets.haystack import Haystack, plant
from rag_app.laboratory.datasets.task import Task, TaskQuery

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
DOCUMENTS = 100
QUERIES = 50
WORDS_PER_TOKEN = 0.75
SHORTEST = 64  # tokens; shorter documents have no room for a needle

REPEATS = 100  # of the filler before a blank line
FILLER = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again."


def word_count(length: int) -> int:
    """Words of a document of `length` tokens.

    Raises:
        InvalidRequest: That is too short to hide anything in.
    """
    if length < SHORTEST:
        raise InvalidRequest(f"a length of {length} is too short; the least is {SHORTEST}")
    return round(length * WORDS_PER_TOKEN)


def passkey(length: int, *, documents: int = DOCUMENTS, seed: int = 0) -> Task:
    """Documents of one repeated line that each hide the pass key of another name."""
    rng = random.Random(f"passkey {length} {seed}")  # noqa: S311 - a benchmark, not a secret
    filler = Haystack.of([" ".join([FILLER] * REPEATS)])
    needles = [_passkey(name, rng.randint(10_000, 99_999)) for name in names(documents, rng)]
    return _task("passkey", length, needles, rng, lambda words: filler.cut(0, words))


def needle(length: int, haystack: Haystack, *, documents: int = DOCUMENTS, seed: int = 0) -> Task:
    """Excerpts of a haystack that each hide one fact."""
    rng = random.Random(f"needle {length} {seed}")  # noqa: S311 - a benchmark, not a secret
    needles = rng.sample(facts(), documents)
    start = range(len(haystack.spans))
    return _task(
        "needle", length, needles, rng, lambda words: haystack.cut(rng.choice(start), words)
    )


def _passkey(name: str, key: int) -> Fact:
    return Fact(
        f"{name}'s pass key is {key}. Remember it. {key} is the pass key for {name}.",
        f"what is the passkey for {name}?",
        str(key),
    )


def _task(
    name: str, length: int, needles: Sequence[Fact], rng: random.Random, hay: Callable[[int], str]
) -> Task:
    """One document for each needle, and queries for fifty of them at random."""
    title = f"{name}-{length}"
    gold = rng.sample(range(len(needles)), min(QUERIES, len(needles)))
    return Task(
        title,
        documents=tuple(_documents(title, word_count(length), needles, rng, hay)),
        queries=tuple(TaskQuery(needles[position].question, position) for position in gold),
    )


def _documents(
    title: str, words: int, needles: Sequence[Fact], rng: random.Random, hay: Callable[[int], str]
) -> Iterator[Document]:
    for number, fact in enumerate(needles):
        around = hay(words - len(fact.sentence.split()))
        text = plant(around, fact.sentence, rng.random())
        yield document(text, name=f"{title}/{number:03d}")
