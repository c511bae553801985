"""Corpus: a folder of indexed documents, to be searched and asked. The only wiring of all parts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from weakref import WeakSet

import filelock

from indexing.database import make_folder
from indexing.documents import Document, Hit
from indexing.encoder import Encoder, EncoderSettings
from indexing.errors import CorpusError, CorpusLocked, DocumentNotFound, InvalidRequest
from indexing.indexer import Indexer, IndexReport, Progress, reencode
from indexing.loading import MAX_BYTES
from indexing.loading import document as text_document
from indexing.recipe import Recipe, check_recipe, refuse_others
from indexing.snapshot import Snapshot
from indexing.store import DocumentEntry, Store
from rag_app.answering import (
    EVIDENCE_DOCUMENTS,
    EVIDENCE_PASSAGES,
    Evidence,
    answered,
    position_checked,
)
from rag_app.naming import named, removable
from rag_app.remembering import Remembering
from retriever.filters import Filter
from retriever.fusion import RANKINGS
from retriever.retriever import Retriever

if TYPE_CHECKING:
    from generator.answer import Answer, Event, Mode
    from generator.conversation import Turn
    from generator.generator import Generator, GeneratorSettings
    from generator.position_check import PositionCheck

DEFAULT_FOLDER = ".rag-app"


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """What a corpus holds and how it was made.

    Attributes:
        folder: Where it lies.
        documents: How many.
        passages: How many.
        words: In all documents.
        tokens: In all documents, by the encoder's tokenizer.
        generation: Raised by every change.
        recipe: How the vectors were made; None while it is empty.
        snapshot: "current" or "missing": whether the derived indexes are on disk.
        bytes: What the folder takes on disk.
    """

    folder: str
    documents: int
    passages: int
    words: int
    tokens: int
    generation: int
    recipe: Recipe | None
    snapshot: str
    bytes: int


@dataclass(frozen=True)
class Moment:
    """A corpus at one moment.

    Attributes:
        store: Its truth.
        derive: Gives the indexes derived from it, made now where there are none.
    """

    store: Store
    derive: Callable[[Store], Snapshot]

    @cached_property
    def snapshot(self) -> Snapshot:
        """The indexes."""
        return self.derive(self.store)


class Corpus:
    """A corpus on disk.

    Nothing is read or made before it is needed: a corpus comes into being with the first `add`,
    the encoder is loaded with the first `add` or `search`, the language model only for answers in
    its own words.

    Threads may share one: each gets a connection of its own, so a search goes on beside an `add`
    and sees the corpus at one moment.

    Args:
        folder: Where the corpus lies; None takes $RAG_APP_CORPUS, else `.rag-app` here.
        encoder: How to encode, or an encoder that is loaded already. None takes what the corpus was
            made with, or the packaged default.
        generator: How to answer.
        notify: Told in a sentence about anything that takes long.

    Raises:
        EncoderMismatch: By whatever needs vectors, when the corpus was encoded in another way.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        encoder: EncoderSettings | Encoder | None = None,
        generator: GeneratorSettings | None = None,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.folder = Path(folder or os.environ.get("RAG_APP_CORPUS") or DEFAULT_FOLDER).resolve()
        self._encoder = encoder if isinstance(encoder, Encoder) else None
        self._encoder_settings = encoder.settings if isinstance(encoder, Encoder) else encoder
        self._generator_settings = generator
        self._notify = notify
        self._here = threading.local()
        self._stores: WeakSet[Store] = WeakSet()
        self._loading = threading.RLock()
        self._generator: Generator | None = None
        self._snapshot: Snapshot | None = None

    def __enter__(self) -> Corpus:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and models; using the corpus again opens them again."""
        for store in self._stores:
            store.close()
        self._here, self._stores = threading.local(), WeakSet()
        self._encoder = self._generator = self._snapshot = None

    # Changing

    def add(
        self,
        paths: Iterable[str | Path],
        *,
        progress: Callable[[Progress], None] | None = None,
        max_bytes: int = MAX_BYTES,
    ) -> IndexReport:
        """Add or update files and folders; what has not changed is skipped.

        A file that cannot be read is in the report's `failures`, and what a file holds beside its
        text, such as scanned pages, in `unread`; all the rest goes on.

        Raises:
            CorpusLocked: Another process is writing.
            EncoderMismatch: The corpus was encoded in another way.
        """
        if isinstance(paths, str | Path):
            paths = [paths]
        with self.writing() as store:
            indexer = self._indexer(store, progress, max_bytes)
            report = indexer.add([Path(path) for path in paths])
            self._refresh(store)
        return report

    def add_text(self, text: str, *, name: str, title: str | None = None) -> IndexReport:
        """Add or update a text that is no file, under a name.

        Raises:
            InvalidRequest: The text is empty.
        """
        return self.add_documents([text_document(text, name=name, title=title)])

    def add_documents(self, documents: Iterable[Document]) -> IndexReport:
        """Add or update documents that somebody else has read or made; those known are skipped.

        Args:
            documents: Taken one by one, a little ahead of the encoding, so that a generator of them
                can count how far it has come.
        """
        with self.writing() as store:
            report = self._indexer(store, None, MAX_BYTES).add_documents(documents)
            self._refresh(store)
        return report

    def remove(self, names: Iterable[str | Path]) -> int:
        """Remove documents by id or title, or all documents of a file or folder; how many.

        Raises:
            DocumentNotFound: A name fits no document; nothing is removed then.
            InvalidRequest: A title fits several; nothing is removed then.
        """
        if isinstance(names, str | Path):
            names = [names]
        self._store()  # an absent corpus is an error, not an empty one
        with self.writing() as store:
            entries = store.entries()
            ids = [id_ for name in names for id_ in removable(str(name), entries)]
            removed = store.remove(ids)
            self._refresh(store)
        return removed

    def missing(self) -> list[DocumentEntry]:
        """Documents whose file is no longer where it was."""
        return [
            entry
            for entry in self.documents()
            if Path(entry.path).is_absolute() and not Path(entry.path).exists()
        ]

    def reencode(self, *, progress: Callable[[Progress], None] | None = None) -> int:
        """Encode every document anew with the settings of this object; how many in this run."""
        self._store()
        with self.writing() as store:
            encoder = Encoder(self._encoder_settings, notify=self._notify)
            if store.recipe() == encoder.recipe:
                return 0
            done = reencode(store, encoder, progress=progress)
            self._encoder = encoder
            self._generator = None
            self._refresh(store)
        return done

    # Reading

    def search(
        self,
        query: str,
        *,
        k: int = 5,
        passages: int = 3,
        where: Filter | None = None,
        ranking: str = "default",
    ) -> list[Hit]:
        """The k best documents, best first, each with its best passages.

        Args:
            query: A question or a description, of any length.
            k: Documents at most.
            passages: Passages of each document at most.
            where: Limits by document, path and speaker.
            ranking: A name from `retriever.fusion.RANKINGS`.

        Raises:
            InvalidRequest: An empty query or an impossible number or name.
            CorpusNotFound: There is no corpus in the folder.
        """
        with self.retriever(ranking) as retriever:
            return retriever.search(query, k=k, passages=passages, where=where)

    @contextmanager
    def retriever(self, ranking: str = "default") -> Iterator[Retriever]:
        """What `search` asks: scores of everything, over the corpus as it is at one moment.

        Raises:
            InvalidRequest: There is no ranking by that name.
            CorpusNotFound: There is no corpus in the folder.
        """
        if ranking not in RANKINGS:
            raise InvalidRequest(f"no ranking {ranking!r}; there are: {', '.join(RANKINGS)}")
        with self.reading() as now:
            encoder = self._encoder_for(now.store)
            yield Retriever(now.store, now.snapshot, encoder.encode_queries, RANKINGS[ranking])

    def stream(
        self,
        question: str,
        *,
        answer: Mode | None = None,
        k: int = EVIDENCE_DOCUMENTS,
        where: Filter | None = None,
        history: Sequence[Turn] = (),
    ) -> Iterator[Event]:
        """Answer a question, event by event: ContextReady, TextDelta (many), AnswerReady.

        Args:
            question: What to answer.
            answer: "quote" for verbatim sentences only, "free" for the model's own words; None
                takes the settings' choice.
            k: Documents to take evidence from, at most.
            where: Limits by document, path and speaker.
            history: The conversation so far, oldest turn first. A question that leans on it ("And
                who disagreed?") is completed from it before evidence is looked for.

        Raises:
            InvalidRequest: An empty question.
            CorpusNotFound: There is no corpus in the folder.
        """
        return answered(
            question,
            find=lambda query: self._evidence(query, k, where),
            generator=self._answering,
            answer=answer,
            history=history,
        )

    def ask(
        self,
        question: str,
        *,
        answer: Mode | None = None,
        k: int = EVIDENCE_DOCUMENTS,
        where: Filter | None = None,
        history: Sequence[Turn] = (),
    ) -> Answer:
        """Answer a question; arguments and errors as in `stream`."""
        from generator.answer import AnswerReady

        for event in self.stream(question, answer=answer, k=k, where=where, history=history):
            if isinstance(event, AnswerReady):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def check_position(  # noqa: PLR0913 - as in `ask`, and two more
        self,
        question: str,
        *,
        answer: Mode | None = None,
        k: int = EVIDENCE_DOCUMENTS,
        where: Filter | None = None,
        history: Sequence[Turn] = (),
        usual: Answer | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> PositionCheck:
        """Whether an answer stays the same with its evidence in other orders, Ms-PoE on and off.

        Nothing else may be asked of this corpus meanwhile.

        Args:
            question: What to answer.
            answer: As in `stream`, as all that follows and is not explained here.
            k: Documents at most.
            where: Limits.
            history: The conversation so far.
            usual: The answer, if it was given already; else it is made first.
            progress: Told how many variants are done, of how many.
        """
        return position_checked(
            question,
            find=lambda query: self._evidence(query, k, where),
            generator=self._answering,
            answer=answer,
            history=history,
            usual=usual,
            progress=progress,
        )

    def documents(self) -> list[DocumentEntry]:
        """All documents, in the order they were added."""
        return self._store().entries()

    def document(self, name: str) -> Document:
        """A whole document with its text, by id, path or title.

        Raises:
            DocumentNotFound: The name fits no document, or several.
        """
        store = self._store()
        with store.reading():
            found = named(name, store.entries())
            if len(found) > 1:
                raise DocumentNotFound(f"{name}: {len(found)} documents; give an id: rag-app list")
            return store.document(found[0])

    def info(self) -> CorpusInfo:
        """What the corpus holds and how it was made."""
        store = self._store()
        with store.reading():
            entries, generation = store.entries(), store.generation
            recipe = store.recipe()
            saved = Snapshot.load(self._snapshots, store) is not None
        return CorpusInfo(
            folder=str(self.folder),
            documents=len(entries),
            passages=sum(entry.passages for entry in entries),
            words=sum(entry.words for entry in entries),
            tokens=sum(entry.tokens for entry in entries),
            generation=generation,
            recipe=recipe,
            snapshot="current" if saved else "missing",
            bytes=sum(_size(file) for file in self.folder.rglob("*")),
        )

    @property
    def generator_settings(self) -> GeneratorSettings:
        """How it answers."""
        from generator.generator import GeneratorSettings

        return self._generator_settings or GeneratorSettings()

    # For whoever brings vectors of their own

    @contextmanager
    def reading(self) -> Iterator[Moment]:
        """The corpus as it is now, whatever is written meanwhile.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        store = self._store()
        with store.reading():
            yield Moment(store, self._current)

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """The store, while no other process can write to it.

        Raises:
            CorpusLocked: Another process is writing.
            CorpusError: The folder cannot be written to.
        """
        make_folder(self.folder)
        lock = filelock.FileLock(self.folder / "write.lock", timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout as error:
            raise CorpusLocked(
                f"{self.folder}: another process is writing to this corpus; wait until it is done "
                "(searching and asking go on meanwhile)"
            ) from error
        except OSError as error:
            raise CorpusError(
                f"{self.folder}: cannot be written to ({error.strerror or error}); "
                "give yourself the right to write there, or name another with --corpus"
            ) from error
        try:
            yield self._store(create=True)
        finally:
            lock.release()

    # Wiring

    @property
    def _snapshots(self) -> Path:
        return self.folder / ".index"  # hidden, so that indexing "." passes it over

    def _store(self, *, create: bool = False) -> Store:
        """This thread's store."""
        store: Store | None = getattr(self._here, "store", None)
        if store is None:
            store = self._here.store = Store(self.folder, create=create)
            self._stores.add(store)
        return store

    def _indexer(
        self, store: Store, progress: Callable[[Progress], None] | None, max_bytes: int
    ) -> Indexer:
        encoder = self._encoder_for(store)
        store.set_recipe(encoder.recipe)
        return Indexer(store, encoder, progress, max_bytes)

    def _encoder_for(self, store: Store) -> Encoder:
        """The encoder that made the corpus, or the one asked for where it is empty."""
        stored = store.recipe()
        refuse_others(stored, self.folder)
        with self._loading:
            if self._encoder is None or self._reencoded(stored):
                chosen = self._encoder_settings or _settings(stored)
                self._encoder = Encoder(chosen, notify=self._notify)
                self._generator = None  # it embeds with the encoder
            encoder = self._encoder
        check_recipe(stored, encoder.recipe, self.folder)
        return encoder

    def _reencoded(self, stored: Recipe | None) -> bool:
        """Whether somebody has encoded the corpus anew, and this object takes what is there."""
        follows = self._encoder_settings is None and stored is not None
        return follows and self._encoder is not None and self._encoder.recipe != stored

    def _evidence(self, query: str, k: int, where: Filter | None) -> Evidence:
        """What is found for a query, and the documents it is in, as they are at one moment."""
        store = self._store()
        with store.reading():
            hits = self.search(query, k=k, passages=EVIDENCE_PASSAGES, where=where)
            return Evidence(hits, {hit.document: store.document(hit.document) for hit in hits})

    def _answering(self) -> Generator:
        """The generator, its sentences embedded by the corpus's own encoder."""
        from generator.generator import Generator, load_model

        encoder = self._encoder_for(self._store())
        with self._loading:
            if self._generator is None:
                settings = self.generator_settings
                self._generator = Generator(
                    settings,
                    embed=Remembering(encoder.encode_queries),
                    load=lambda: load_model(settings.model, notify=self._notify),
                )
            return self._generator

    def _current(self, store: Store) -> Snapshot:
        """The snapshot of the store's generation: at hand, from disk, or made now."""
        snapshot = self._snapshot
        if snapshot is None or snapshot.stamp != store.stamp:
            snapshot = Snapshot.load(self._snapshots, store)
        if snapshot is None:
            snapshot = Snapshot.build(store)
            self._keep(snapshot)
        self._snapshot = snapshot
        return snapshot

    def _refresh(self, store: Store) -> None:
        """After a change: make the derived indexes anew while the lock is held."""
        if Snapshot.load(self._snapshots, store) is None:
            self._snapshot = Snapshot.build(store)
            self._keep(self._snapshot, patience=60)

    def _keep(self, snapshot: Snapshot, *, patience: float = 0) -> None:
        """Save a snapshot, one process at a time; where it cannot be, it is made again next time.

        A lock of its own: a search that saves must not make an `add` fail.
        """
        lock = filelock.FileLock(self.folder / "index.lock", timeout=patience)
        try:
            with lock:
                snapshot.save(self._snapshots)
        except filelock.Timeout:  # somebody else is saving one
            return
        except (OSError, RuntimeError) as error:  # FAISS raises the latter
            if self._notify is not None:
                self._notify(f"{self._snapshots}: cannot be kept ({error}); each search makes it")


def _settings(recipe: Recipe | None) -> EncoderSettings:
    if recipe is None:
        return EncoderSettings()
    return EncoderSettings(
        model=recipe.model,
        extension=recipe.extension,
        max_length=recipe.max_length,
        dtype=recipe.dtype,
    )


def _size(file: Path) -> int:
    """Bytes of a file; 0 for a folder, or for what a writer has just replaced."""
    try:
        return file.stat().st_size if file.is_file() else 0
    except OSError:
        return 0
