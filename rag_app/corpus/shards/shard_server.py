"""What an actor on a machine of a Ray cluster does: rounds of questions over its shard.

It copies the states of the shard from the corpus's own folder, which has to be there under the same
path on every machine (NFS, or another shared file system), to a disk of its own.
"""

from __future__ import annotations

import os
import shutil
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from socket import gethostname
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from indexing.documents import Document, Hit
from indexing.errors import CorpusNotFound
from indexing.filter import Filter
from indexing.store.store import FILE_NAME as STORE
from rag_app.corpus.segments import INDEX, SUFFIX
from rag_app.corpus.shards.manifest import ShardState, folder_of
from rag_app.corpus.shards.page_delta import FILE_NAME as DELTA
from rag_app.corpus.shards.page_delta import apply_delta, stamp_before
from rag_app.corpus.shards.parts import CorpusView
from rag_app.corpus.shards.shards import VERSIONS, Shards
from retriever.fusion import Ranking
from retriever.query import Query
from retriever.retriever import Retriever
from retriever.rounds.rounds import Rounds, Share

FloatArray = npt.NDArray[np.float32]

_BESIDE = ("write.*", "*.dropped", "*.draft")  # files of those who write segments
MOST_RUNS = 256  # questions in an actor; one that its asker has left is dropped for the 257th


@dataclass(frozen=True, slots=True)
class ShardQuestion:
    """A question as a shard is asked it."""

    query: Query  # text and sentences
    vectors: FloatArray  # (q, d) of the whole and, where the ranking wants them, of the sentences
    k: int  # documents at most
    passages: int  # passages of each at most
    where: Filter | None  # limits, but for collections
    scope: tuple[int, ...] | None  # rows of the collections that are searched; None for all
    ranking: Ranking  # which features count


class ShardServer:
    """What an actor does: rounds of questions over one shard, in one thread."""

    def __init__(self, corpus: Path, device: str = "") -> None:
        self._published = Shards(corpus).folder
        self._disk = TemporaryDirectory(prefix="rag-app-shard-")
        self._shards = Shards(Path(self._disk.name), device=device)
        self._runs: dict[str, tuple[Rounds[dict[int, Hit]], ExitStack]] = {}
        self._recent: dict[ShardState, None] = {}

    def begin(
        self, run: str, state: ShardState, question: ShardQuestion
    ) -> Share[Any] | dict[int, Hit] | None:
        """The first share of a question; or its hits by rank, where no round is needed."""
        while len(self._runs) >= MOST_RUNS:
            self._end(next(iter(self._runs)))
        stack = ExitStack()
        shard = self._pin(state, stack)
        retriever = Retriever(
            shard.store.within(question.scope),
            shard.snapshot,
            lambda _: question.vectors,
            question.ranking,
        )
        rounds = retriever.hits(
            question.query, k=question.k, passages=question.passages, where=question.where
        )
        self._runs[run] = rounds, stack
        return self.proceed(run, None)

    def proceed(self, run: str, whole: object) -> Share[Any] | dict[int, Hit] | None:
        """The share of the next round, or the hits by rank after the last one.

        None where the question was begun before this actor was started again.
        """
        if run not in self._runs:
            return None
        rounds, _ = self._runs[run]
        try:
            return rounds.send(whole)
        except StopIteration as stop:
            self._end(run)
            hits: dict[int, Hit] = stop.value
            return hits
        except BaseException:
            self._end(run)
            raise

    def document(self, state: ShardState, id_: str, scope: tuple[int, ...] | None) -> Document:
        """A document as it was published."""
        with ExitStack() as stack:
            return self._pin(state, stack).store.within(scope).document(id_)

    def load(self, state: ShardState) -> int:
        """Load a state before it is asked; the number of the process."""
        with ExitStack() as stack:
            self._pin(state, stack)
        return os.getpid()

    def _pin(self, state: ShardState, stack: ExitStack) -> CorpusView:
        if state not in self._recent:
            self._fetch(state)
        shard = self._shards.pin(state, stack)
        self._recent.pop(state, None)
        self._recent[state] = None
        for old in list(self._recent)[:-2]:  # which a question may have pinned
            del self._recent[old]
            shutil.rmtree(self._shards.folder / folder_of(old), ignore_errors=True)
        self._shards.forget_others(self._recent)
        return shard

    def _fetch(self, state: ShardState) -> None:
        """Copy a state to a disk of this machine: SQLite's log cannot be shared over a network.

        What is beside the database belongs to whoever has it open; a state is never written to.
        """
        source, target = (one / folder_of(state) for one in (self._published, self._shards.folder))
        shutil.rmtree(target, ignore_errors=True)
        here = {one.name: one for one in self._shards.folder.glob(f"*/*/{INDEX}/*{SUFFIX}")}
        stamp = stamp_before(source)
        before = [
            self._shards.folder / folder_of(one) for one in self._recent if one.stamp == stamp
        ]

        def copy(path: str, to: str) -> object:
            """What is here already does not travel again."""
            name = Path(path).name
            if name == STORE and before:
                with suppress(OSError, ValueError, KeyError, BadZipFile):
                    apply_delta(source, before[0] / STORE, Path(to))
                    return to
            if (known := here.get(name)) is None:
                return shutil.copy2(path, to)
            os.link(known, to)
            return to

        try:
            beside = shutil.ignore_patterns("*-wal", "*-shm", VERSIONS, DELTA, *_BESIDE)
            shutil.copytree(source, target, ignore=beside, copy_function=copy)
        except OSError as error:
            raise CorpusNotFound(
                f"{source}: cannot be copied to {target} on {gethostname()} "
                f"({error.strerror or 'not whole'}); the corpus's folder has to be there under the "
                "same path on every machine of the cluster, and room for its shards"
            ) from error

    def _end(self, run: str) -> None:
        rounds, stack = self._runs.pop(run)
        rounds.close()
        stack.close()
