"""Needle in a haystack over a corpus of one's own: retrieval accuracy by depth and length.

Excerpts of the corpus, of each length, hide one fact (needle) each at each depth. All excerpts of a
length are documents of one task, and a needle's question must rank its own excerpt first: the
needle task of LongEmbed (Zhu et al., arXiv 2404.12096, sec. 3) on *these* texts. The corpus is only
read, and the excerpts are temporary.
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
from indexing.encoder.encoder import Encoder
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets.facts import Fact, facts
from rag_app.laboratory.datasets.haystack import Haystack, plant
from rag_app.laboratory.datasets.synthetic import word_count
from rag_app.laboratory.datasets.task import Task, TaskQuery
from rag_app.laboratory.evaluation.collection import open_collection

LENGTHS = (512, 2048, 8192, 32768)
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
EXTENSIONS = ("pcw", "none")
RANKINGS = ("default", "dense", "bm25")  # ties are broken in this order
EACH = 4

MethodNames = tuple[str, str]  # extension and ranking


@dataclass(frozen=True, slots=True)
class Grid:
    """Lengths by depths.

    Attributes:
        lengths: Of the excerpts, in tokens; none for those of `LENGTHS` that the documents allow.
        depths: Positions of needles as shares of an excerpt, 0 to 1.
        each: Needles for each length and depth.
        seed: Of the choice of excerpts and needles.
    """

    lengths: tuple[int, ...] = ()
    depths: tuple[float, ...] = DEPTHS
    each: int = EACH
    seed: int = 0


@dataclass(frozen=True)
class MethodResult:
    """Accuracy of one method.

    Attributes:
        extension: Name of the context extension.
        ranking: Name of the ranking.
        fingerprint: The encoder's fingerprint.
        shares: (depths, lengths) float64, share of the needles whose excerpt was ranked first.
    """

    extension: str
    ranking: str
    fingerprint: Fingerprint
    shares: npt.NDArray[np.float64]

    @property
    def name(self) -> str:
        """As the flags spell it."""
        return f"--extension {self.extension} --ranking {self.ranking}"

    @property
    def mean(self) -> float:
        """Over all lengths and depths."""
        return float(self.shares.mean())


@dataclass(frozen=True)
class NeedleReport:
    """Accuracy of all methods.

    Attributes:
        documents: How many documents the excerpts are from.
        needles: How many at each length.
        lengths: In tokens.
        depths: 0 to 1.
        results: One for each method.
    """

    documents: int
    needles: int
    lengths: tuple[int, ...]
    depths: tuple[float, ...]
    results: tuple[MethodResult, ...]

    @property
    def recommended(self) -> MethodResult:
        """The best mean; ties are broken by the worst cell, then by order."""
        return max(self.results, key=lambda one: (one.mean, float(one.shares.min())))

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
                    "fingerprint": one.fingerprint.as_dict(),
                }
                for one in self.results
            ],
        }


def combine_methods(
    extensions: Sequence[str] = EXTENSIONS, rankings: Sequence[str] = RANKINGS
) -> list[MethodNames]:
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
    methods: Sequence[MethodNames],
    encoder: EncoderSettings | None = None,
    notify: Callable[[str], None] | None = None,
) -> NeedleReport:
    """Compare methods on needles in the documents of a corpus.

    Args:
        corpus: The folder of the corpus.
        grid: Lengths, depths and numbers.
        methods: Pairs of extension and ranking; those of one extension adjacent.
        encoder: Settings but for the extension; None for the corpus's model.
        notify: Told what is measured, a sentence each.

    Raises:
        CorpusNotFound: There is no corpus in the folder.
        InvalidRequest: The documents are too short, or there are not enough facts for the grid.
        UnsupportedModel: An extension is not for this encoder.
    """
    texts, model = _read(corpus)
    settings = encoder or EncoderSettings(model=model or EncoderSettings().model)
    tasks = plant_needles(texts, grid)
    results = []
    for extension, group in groupby(methods, key=lambda pair: pair[0]):
        loaded = Encoder(replace(settings, extension=extension), notify=notify)
        with TemporaryDirectory(prefix="rag-app-needles-") as folder:
            for _, ranking in group:
                if notify:
                    notify(f"measuring --extension {extension} --ranking {ranking}")
                columns = [
                    _column(task, loaded, ranking, len(grid.depths), Path(folder) / task.name)
                    for task in tasks.values()
                ]
                results.append(
                    MethodResult(extension, ranking, loaded.fingerprint, np.stack(columns, axis=1))
                )
    needles = len(grid.depths) * grid.each
    return NeedleReport(len(texts), needles, tuple(tasks), grid.depths, tuple(results))


def plant_needles(texts: Sequence[str], grid: Grid) -> dict[int, Task]:
    """A task for each length, its documents and queries in the order of depths.

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


def _lengths(hay: Sequence[Haystack], lengths: Sequence[int]) -> Sequence[int]:
    longest = max((len(one.spans) for one in hay), default=0)
    allowed = [length for length in lengths or LENGTHS if word_count(length) <= longest]
    if not allowed or (lengths and len(allowed) < len(lengths)):
        raise InvalidRequest(
            f"the longest document has {longest} words, too few for a length of "
            f"{max(lengths or LENGTHS[:1])} (0.75 words a token); ask for less with --lengths"
        )
    return allowed


def _task(hay: Sequence[Haystack], length: int, grid: Grid) -> Task:
    rng = random.Random(f"own needle {length} {grid.seed}")  # noqa: S311 - not a secret
    depths = [depth for depth in grid.depths for _ in range(grid.each)]
    needles = rng.sample(facts(), len(depths))
    sources = [one for one in hay if len(one.spans) >= word_count(length)]
    excerpts = tuple(_excerpts(sources, length, list(zip(depths, needles, strict=True)), rng))
    queries = tuple(TaskQuery(fact.question, position) for position, fact in enumerate(needles))
    return Task(f"own-needle-{length}", excerpts, queries)


def _excerpts(
    hay: Sequence[Haystack], length: int, needles: Sequence[tuple[float, Fact]], rng: random.Random
) -> Iterator[Document]:
    for number, (depth, fact) in enumerate(needles):
        source = rng.choice(hay)
        words = word_count(length) - len(fact.sentence.split())
        first = rng.randint(0, len(source.spans) - words)
        text = plant(source.cut(first, words), fact.sentence, depth)
        yield document(text, name=f"own-needle-{length}/{number:03d}")


def _read(folder: Path) -> tuple[list[str], str | None]:
    """The texts of a corpus, and the model that encoded it."""
    with Corpus(folder) as corpus:
        texts = [corpus.document(entry.id).text for entry in corpus.documents()]
        fingerprint = corpus.info().fingerprint
    return texts, fingerprint.model if fingerprint else None


def _column(
    task: Task, encoder: Encoder, ranking: str, depths: int, folder: Path
) -> npt.NDArray[np.float64]:
    """(depths,) accuracy at one length."""
    with open_collection(task, encoder=encoder, ranking=ranking, folder=folder) as collection:
        ranks = np.reshape(collection.ranks(), (depths, -1))
    shares: npt.NDArray[np.float64] = (ranks == 1).mean(axis=1)
    return shares
