"""Needles in a person's own documents: which method finds a fact, by its depth and the length.

Copies of stretches of the documents, of each length, hide one fact each at each depth; every copy
of one length is a document among the others, and a question must bring its own to the first place.
So the numbers say what whole-document retrieval makes of *these* texts. The corpus is only read,
and the copies are gone when the run is over.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import numpy.typing as npt

from indexing.documents import Document
from indexing.encoder.encoder import Encoder, EncoderSettings
from indexing.encoder.fingerprint import Recipe
from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.corpus.corpus import Corpus
from rag_app.datasets.facts import Fact, facts
from rag_app.datasets.haystack import Haystack, plant
from rag_app.datasets.synthetic import words_of
from rag_app.datasets.task import Task, TaskQuery
from rag_app.evaluation import metrics
from rag_app.evaluation.collection import Collection, collected
from rag_app.progress import counted

LENGTHS = (512, 2048, 8192, 32768)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
EXTENSIONS = ("pcw", "none")
RANKINGS = ("default", "dense", "bm25")  # the first of equally good ones is recommended
EACH = 4

Compared = tuple[str, str]  # extension and ranking


@dataclass(frozen=True, slots=True)
class Grid:
    """What is planted.

    Attributes:
        lengths: Of the copies, in tokens; none for those of `LENGTHS` that the documents allow.
        depths: Where needles go, as shares of a copy, 0 to 1.
        each: Needles for each length and depth.
        seed: Of what is planted where.
    """

    lengths: tuple[int, ...] = ()
    depths: tuple[float, ...] = DEPTHS
    each: int = EACH
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """How one method did.

    Attributes:
        extension: How documents are read.
        ranking: How they are ranked.
        recipe: How they were encoded.
        shares: (depths, lengths) float64, share of the needles whose copy stood first.
    """

    extension: str
    ranking: str
    recipe: Recipe
    shares: npt.NDArray[np.float64]

    @property
    def name(self) -> str:
        """As the flags spell it."""
        return f"--extension {self.extension} --retriever {self.ranking}"

    @property
    def mean(self) -> float:
        """Over all lengths and depths."""
        return float(self.shares.mean())


@dataclass(frozen=True)
class NeedleReport:
    """How all methods did.

    Attributes:
        documents: How many documents the stretches were taken from.
        needles: How many were planted at each length.
        lengths: In tokens.
        depths: 0 to 1.
        found: One of each method.
    """

    documents: int
    needles: int
    lengths: tuple[int, ...]
    depths: tuple[float, ...]
    found: tuple[Found, ...]

    @property
    def recommended(self) -> Found:
        """The best mean; of equal ones the best at its worst cell, then the first."""
        return max(self.found, key=lambda one: (one.mean, float(one.shares.min())))

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints."""
        best = self.recommended
        return {
            "task": "own-needle",
            "documents": self.documents,
            "queries": self.needles * len(self.lengths),
            "lengths": list(self.lengths),
            "depths": list(self.depths),
            "acc_at_1": round(best.mean, 5),
            "recommended": {"extension": best.extension, "retriever": best.ranking},
            "methods": [
                {
                    "extension": one.extension,
                    "retriever": one.ranking,
                    "acc_at_1": round(one.mean, 5),
                    "found": one.shares.round(5).tolist(),
                    "recipe": one.recipe.as_dict(),
                }
                for one in self.found
            ],
        }


def combined(
    extensions: Sequence[str] = EXTENSIONS, rankings: Sequence[str] = RANKINGS
) -> list[Compared]:
    """Every extension with every ranking; BM25, which does not look at vectors, only once."""
    return [
        (extension, ranking)
        for number, extension in enumerate(extensions)
        for ranking in rankings
        if ranking != "bm25" or number == 0
    ]


def evaluate(
    corpus: Path,
    grid: Grid,
    *,
    compared: Sequence[Compared],
    encoder: EncoderSettings | None = None,
    notify: Callable[[str], None] | None = None,
) -> NeedleReport:
    """Compare methods on needles planted in the documents of a corpus.

    Args:
        corpus: The folder of the corpus.
        grid: Lengths, depths and numbers.
        compared: Extensions with rankings, those of one extension side by side.
        encoder: How to encode, the extension aside; None takes the model of the corpus.
        notify: Told what is measured, in a sentence.

    Raises:
        CorpusNotFound: There is no corpus in the folder.
        InvalidRequest: The documents are too short, or there are not enough facts for the grid.
        UnsupportedModel: An extension is not for this encoder.
    """
    texts, model = _read(corpus)
    settings = encoder or EncoderSettings(model=model or EncoderSettings().model)
    tasks = planted(texts, grid)
    found = []
    for extension, group in groupby(compared, key=lambda pair: pair[0]):
        loaded = Encoder(replace(settings, extension=extension), notify=notify)
        with TemporaryDirectory(prefix="rag-app-needles-") as folder:
            for _, ranking in group:
                if notify:
                    notify(f"measuring --extension {extension} --retriever {ranking}")
                columns = [
                    _column(task, loaded, ranking, len(grid.depths), Path(folder) / task.name)
                    for task in tasks.values()
                ]
                found.append(Found(extension, ranking, loaded.recipe, np.stack(columns, axis=1)))
    needles = len(grid.depths) * grid.each
    return NeedleReport(len(texts), needles, tuple(tasks), grid.depths, tuple(found))


def planted(texts: Sequence[str], grid: Grid) -> dict[int, Task]:
    """For each length a task whose documents and queries go depth by depth.

    Raises:
        InvalidRequest: As in `evaluate`.
    """
    if not 0 < len(grid.depths) * grid.each <= len(facts()):
        raise InvalidRequest(
            f"{len(grid.depths)} depths of {grid.each} needles are impossible; there are "
            f"{len(facts())} needles to plant, and at least one is needed"
        )
    hay = [Haystack.of([text]) for text in texts]
    return {length: _task(hay, length, grid) for length in _lengths(hay, grid.lengths)}


def _lengths(hay: Sequence[Haystack], asked: Sequence[int]) -> Sequence[int]:
    longest = max((len(one.spans) for one in hay), default=0)
    allowed = [length for length in asked or LENGTHS if words_of(length) <= longest]
    if not allowed or (asked and len(allowed) < len(asked)):
        raise InvalidRequest(
            f"the longest document has {longest} words, too few for a length of "
            f"{max(asked or LENGTHS[:1])} (0.75 words a token); ask for less with --lengths"
        )
    return allowed


def _task(hay: Sequence[Haystack], length: int, grid: Grid) -> Task:
    rng = random.Random(f"own needle {length} {grid.seed}")  # noqa: S311 - not a secret
    depths = [depth for depth in grid.depths for _ in range(grid.each)]
    hidden = rng.sample(facts(), len(depths))
    enough = [one for one in hay if len(one.spans) >= words_of(length)]
    copies = tuple(_copies(enough, length, list(zip(depths, hidden, strict=True)), rng))
    queries = tuple(TaskQuery(fact.question, position) for position, fact in enumerate(hidden))
    return Task(f"own-needle-{length}", copies, queries)


def _copies(
    hay: Sequence[Haystack], length: int, hidden: Sequence[tuple[float, Fact]], rng: random.Random
) -> Iterator[Document]:
    for number, (depth, fact) in enumerate(hidden):
        source = rng.choice(hay)
        words = words_of(length) - len(fact.sentence.split())
        first = rng.randint(0, len(source.spans) - words)
        text = plant(source.cut(first, words), fact.sentence, depth)
        yield document(text, name=f"own-needle-{length}/{number:03d}")


def _read(folder: Path) -> tuple[list[str], str | None]:
    """The texts of a corpus, and the model that encoded it."""
    with Corpus(folder) as corpus:
        texts = [corpus.document(entry.id).text for entry in corpus.documents()]
        recipe = corpus.info().recipe
    return texts, recipe.model if recipe else None


def _column(
    task: Task, encoder: Encoder, ranking: str, depths: int, folder: Path
) -> npt.NDArray[np.float64]:
    """(depths,) share of the needles found, at one length."""
    with collected(task, encoder=encoder, ranking=ranking, folder=folder) as collection:
        first = _first(collection)
    shares: npt.NDArray[np.float64] = np.reshape(first, (depths, -1)).mean(axis=1)
    return shares


def _first(collection: Collection) -> list[bool]:
    """Whether the right copy stands first, for each query."""
    with counted(collection.task.queries, doing="Ranking") as queries:
        return [metrics.rank(collection.scores(each.text), each.gold) == 1 for each in queries]
