"""Corpus: a folder of indexed documents, to be searched and asked. The only wiring of all parts."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from generator.request import EVIDENCE_DOCUMENTS, AskRequest, ReadAs, Retrieval
from indexing.documents import Document, Figure, Hit
from indexing.encoder.settings import EncoderSettings
from indexing.errors import (
    CorpusDamaged,
    DocumentNotFound,
    InvalidRequest,
    RagAppError,
    ShardLost,
)
from indexing.filter import Filter
from indexing.limits import FileLimits
from indexing.store.collections import DEFAULT, collection_name
from indexing.store.database import Synchronous, irreparable
from indexing.store.store import FILE_NAME, DocumentEntry, Store
from indexing.walk import is_gone
from rag_app.corpus.collections import CorpusCollections
from rag_app.corpus.document_names import documents_named, removable_documents
from rag_app.corpus.info import CorpusInfo, corpus_info
from rag_app.corpus.models import Models
from rag_app.corpus.shards.lost_replicas import LostReplicas
from rag_app.corpus.shards.manifest import MissingShards
from rag_app.corpus.shards.shards import PinnedShards, Shards
from rag_app.corpus.snapshots import CorpusView, Snapshots
from rag_app.corpus.speakers import CorpusSpeakers
from rag_app.corpus.stores import Stores

if TYPE_CHECKING:
    from generator.answer import Answer, ContextEntry, Event, Mode
    from generator.answer_form import Form
    from generator.answer_length import Length
    from generator.evidence import EvidenceUnit
    from generator.generator import Generator as AnswerGenerator
    from generator.overview.overview import Overview
    from generator.position_check import PositionCheck
    from generator.prompt.follow_up import Turn
    from generator.settings import GeneratorSettings
    from indexing.encoder.encoder import Encoder
    from indexing.encoder.lookahead import Lookahead
    from indexing.files import FileReader
    from indexing.indexer import Indexer, IndexReport, Progress
    from indexing.ocr.reading import OcrSettings
    from rag_app.corpus.cluster.answers import Generate
    from rag_app.corpus.cluster.workers import RayWorkers, WorkerPool
    from rag_app.corpus.copies.backup import Backup
    from rag_app.corpus.copies.exchange import ImportReport
    from rag_app.corpus.shards.manifest import ShardManifest
    from rag_app.corpus.shards.missing import PartialHits
    from rag_app.corpus.shards.ray_cluster import RemoteShards
    from rag_app.corpus.verification import RepairReport, Verification
    from rag_app.requests.router import Route, Router
    from retriever.retriever import Retriever
    from retriever.similar_documents import SimilarDocument

DEFAULT_FOLDER = ".rag-app"

EVIDENCE_PASSAGES = 16
"""Passages of evidence, over all documents of an answer."""


class Corpus:
    """A corpus on disk.

    Nothing is read or made before it is needed: a corpus comes into being with the first `add`,
    the encoder is loaded with the first `add` or `search`, the language model only for
    generated answers.

    Threads may share one: each gets a connection of its own, so a search goes on beside an `add`
    and sees the corpus at one moment.

    Args:
        folder: Where the corpus lies, or ray://HOST:PORT/NAME of one on a Ray cluster, whose
            workers then encode and answer; None takes $RAG_APP_CORPUS, else `.rag-app` here.
        encoder: How to encode, or an encoder that is loaded already. None takes what the corpus was
            made with, or the packaged default.
        generator: How to answer.
        limits: What one file may take to be read.
        ocr: How pages that are pictures are read; None for any engine that is installed.
        notify: Told in a sentence about anything that takes long.
        synchronous: What a power cut may take: "normal", the latest documents, which the next `add`
            reads again; "full", nothing, at the price of waiting for the disk at each.
        quick_start: Whether searches and quotes go through exported models, which are ready at
            once; for a program that ends after a few. They are exported at first use, once on a
            machine. Else torch is loaded, which takes seconds and then less for each question.
        workers: A Ray cluster whose workers encode what is added, and make the answers of `ask` and
            `answer`; None for this process. Streams are made here in any case.
        missing_shards: What becomes of a question when a shard on a cluster is lost with all its
            replicas: "fail", or "answer" from the others, with a line for the lost one and its
            documents in the answer's `context`. `search`, which has no room for such a line, fails
            in any case; `partial_search` has.

    Raises:
        EncoderMismatch: By whatever needs vectors, when the corpus was encoded in another way.
        CorpusNotFound: No corpus of that name is on the cluster.
        InvalidRequest: No cluster answers at the address.
    """

    def __init__(  # noqa: PLR0913 - options, by keyword only
        self,
        folder: str | Path | None = None,
        *,
        encoder: EncoderSettings | Encoder | None = None,
        generator: GeneratorSettings | None = None,
        limits: FileLimits | None = None,
        ocr: OcrSettings | None = None,
        notify: Callable[[str], None] | None = None,
        synchronous: Synchronous = "normal",
        quick_start: bool = False,
        workers: RayWorkers | None = None,
        missing_shards: MissingShards = "fail",
    ) -> None:
        place = folder or os.environ.get("RAG_APP_CORPUS") or DEFAULT_FOLDER
        if isinstance(place, str) and place.startswith("ray://"):
            from rag_app.corpus.cluster.address import CorpusAddress
            from rag_app.corpus.cluster.workers import RayWorkers

            address = CorpusAddress.of(place)
            place, workers = address.folder(), workers or RayWorkers(address.cluster)
        self.folder = Path(place).resolve()
        self._stores = Stores(self.folder, synchronous=synchronous)
        self._limits = limits or FileLimits()
        self._ocr = ocr
        self._notify = notify
        self._workers = workers
        self._missing_shards = missing_shards
        self._snapshots = Snapshots(self.folder, notify)
        self._shards = Shards(self.folder, synchronous=synchronous, notify=notify)
        self._lost_replicas = LostReplicas()
        self._models = Models(
            self.folder,
            encoder=encoder,
            generator=generator,
            quick_start=quick_start,
            notify=notify,
        )

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
        for part in (self._stores, self._snapshots, self._shards, self._models):
            part.close()
        if "_reader" in self.__dict__:
            self._reader.close()

    # Changing

    def add(  # noqa: PLR0913 - five of them optional, by keyword
        self,
        paths: Iterable[str | Path],
        *,
        progress: Callable[[Progress], None] | None = None,
        recheck: bool = False,
        collection: str = DEFAULT,
        owner: str | None = None,
        among: Collection[Path] | None = None,
    ) -> IndexReport:
        """Add or update files and folders; what has not changed is skipped.

        A file that cannot be read is in the report's `failures`, and what a file holds beside its
        text, such as scanned pages, in `unread`; all the rest goes on. Where there is no corpus and
        no file to read, none is made.

        Args:
            paths: Files and folders.
            progress: Called as the work goes on.
            recheck: Read every file again, also those whose size and time have not changed.
            collection: Where documents go; made where there is none. What others hold is not
                encoded again, and what changes here stays as it is there.
            owner: The login that the collection is to belong to; None for whoever has it.
            among: Of all files under the paths, look at these only; None for all.

        Raises:
            CorpusLocked: Another process is writing.
            EncoderMismatch: The corpus was encoded in another way.
            InvalidRequest: The collection's name is none, or it is another owner's.
        """
        from indexing.indexer import nothing_to_read

        if isinstance(paths, str | Path):
            paths = [paths]
        files, collection = [Path(path) for path in paths], collection_name(collection)
        if not self.exists and (nothing := nothing_to_read(files, pictures=self.ocr.is_named)):
            return nothing
        with self.writing() as store:
            if owner is not None:
                store.collections.claim(collection, owner)
            indexer = self._indexer(store, progress, recheck=recheck, collection=collection)
            report = indexer.add(files, among=among)
            self._refresh(store)
        return report

    def add_text(
        self, text: str, *, name: str, title: str | None = None, collection: str = DEFAULT
    ) -> IndexReport:
        """Add or update a text that is no file, under a name.

        Raises:
            InvalidRequest: The text is empty.
        """
        from indexing.files import document as text_document

        document = text_document(text, name=name, title=title)
        return self.add_documents([document], collection=collection)

    def add_documents(
        self, documents: Iterable[Document], *, collection: str = DEFAULT
    ) -> IndexReport:
        """Add or update documents that somebody else has read or made; those known are skipped.

        Args:
            documents: Taken one by one, a little ahead of the encoding, so that a generator of them
                can count how far it has come.
            collection: Where they go; made where there is none.
        """
        collection = collection_name(collection)
        with self.writing() as store:
            indexer = self._indexer(store, None, collection=collection)
            report = indexer.add_documents(documents)
            self._refresh(store)
        return report

    def remove(self, names: Iterable[str | Path], *, collection: str | None = None) -> int:
        """Remove documents by id or title, or all documents of a file or folder; how many.

        Args:
            names: What they are called.
            collection: From which; what others hold too stays there. None removes from all.

        Raises:
            DocumentNotFound: A name fits no document; nothing is removed then.
            InvalidRequest: A title fits several; nothing is removed then.
            CollectionNotFound: There is no collection of that name.
        """
        if isinstance(names, str | Path):
            names = [names]
        self._stores.connection()  # an absent corpus is an error, not an empty one
        with self.writing() as store:
            limits = None if collection is None else Filter(collections=(collection,))
            entries = store.limited(limits).entries()
            ids = dict.fromkeys(
                id_ for name in names for id_ in removable_documents(str(name), entries)
            )
            if collection is None:
                store.remove(ids)
            else:
                store.leave(ids, collection)
            self._refresh(store)
        return len(ids)

    def missing(self, *, where: Filter | None = None) -> list[DocumentEntry]:
        """Documents whose file is no longer where it was, in any collection that has them.

        Args:
            where: Limits by collection.
        """
        store = self._stores.connection()
        with store.reading():
            limited = store.limited(where)
            return [
                entry
                for entry in limited.entries()
                if is_gone(entry.path) and all(map(is_gone, limited.paths(entry.id)))
            ]

    @property
    def collections(self) -> CorpusCollections:
        """The collections, to be listed, made, changed and deleted."""
        return CorpusCollections(self.reading, self.writing, self._refresh, self._publish)

    @property
    def speakers(self) -> CorpusSpeakers:
        """Who speaks in the documents, to be listed, renamed and merged."""
        return CorpusSpeakers(self.reading, self.writing, self._refresh)

    @property
    def revision(self) -> str:
        """Another one after every change of documents or collections; "" where there is no corpus.

        To be compared only. It takes no time, so it can be asked for every second.
        """
        return self._stores.connection().revision if self.exists else ""

    def reencode(self, *, progress: Callable[[Progress], None] | None = None) -> int:
        """Encode every document again with the settings of this object; how many in this run."""
        from indexing.indexer import reencode

        self._stores.connection()
        with self.writing() as store:
            here = self._models.new_encoder() if self._workers is None else None
            encoder = here or self._models.new_encoder_on(self._required_workers)
            if store.fingerprint() == encoder.fingerprint:
                return 0
            done = reencode(store, encoder, progress=progress)
            self._models.use_encoder(here)
            self._refresh(store)
        return done

    def prepare(self) -> None:
        """Export what a quick start needs, if it is not there yet: some seconds, once on a machine.

        Else the first search or question under `quick_start` does it.
        """
        if (stored := self._stores.connection().fingerprint()) is not None:
            self._models.prepare(stored)

    # Shards

    @property
    def shards(self) -> ShardManifest | None:
        """The shards that the search is divided among; None in one piece.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        self._stores.connection()
        return self._shards.manifest

    def divide(
        self,
        shards: int,
        *,
        ray: str = "",
        replicas: int = 1,
        name: str = "",
        gpus: float = 0.0,
    ) -> ShardManifest:
        """Divide the search among so many shards, or another number of them; what was published.

        Documents go by hash of their ids, and none is encoded again. From then on whatever changes
        the corpus publishes the shards in which something has changed, and searches read what is
        published. They find what they would find in one piece.

        Args:
            shards: How many, 1 to 4096.
            ray: The address of a Ray cluster whose machines are to search them, each with this
                folder under this path; "" to search them in the process that asks.
            replicas: How many machines are to have each shard there.
            name: What the corpus is to be called there, as in ray://HOST:PORT/NAME; "" for the name
                of its folder.
            gpus: GPUs of each process there, which compare the vectors of its shard; 0.25 lets
                four share one. Scores differ from those of CPUs in their last bits.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusLocked: Another process is writing.
            InvalidRequest: There cannot be so many, no cluster answers at the address, or its
                machines have too few GPUs.
            ShardLost: A shard does not begin on the cluster.
        """
        self._stores.connection()
        if ray:
            from rag_app.corpus.cluster.address import corpus_name, require_free
            from rag_app.corpus.cluster.connection import connect
            from rag_app.corpus.shards.ray_cluster import require_gpus

            name = corpus_name(name, self.folder)
            require_free(connect(ray), name, self.folder)
            require_gpus(connect(ray), gpus, shards * replicas)
        elif gpus:
            raise InvalidRequest("GPUs compare the vectors of shards on a Ray cluster only")
        with self.writing() as store:
            self._release_actors()
            manifest = self._shards.divide(
                store, shards, ray=ray, replicas=replicas, name=name, gpus=gpus
            )
        if ray:
            from rag_app.corpus.shards.ray_cluster import start

            start(self.folder, manifest)
        return manifest

    def unite(self) -> None:
        """Search in one piece again. Errors as in `divide`."""
        self._stores.connection()
        with self.writing() as store:
            self._release_actors()
            self._shards.unite()
            self._snapshots.refresh(store)

    # Soundness

    def verify(self, *, progress: Callable[[int, int], None] | None = None) -> Verification:
        """Compare everything stored with its checksums; the damaged documents by name.

        Others may search and write meanwhile.

        Args:
            progress: Called with documents verified, and their number.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        from indexing.store.verification import Damage, document_rows, verify
        from rag_app.corpus.verification import Verification

        try:
            store = Store(self.folder, check=False)
        except CorpusDamaged as error:
            return Verification(0, (Damage("database", str(error)),))
        with closing(store):
            documents = len(document_rows(store.database))
            damages = verify(store.database, progress=progress)
            if not damages and (reason := self._damage(store)):
                damages = [Damage("index", reason)]
        return Verification(documents, tuple(damages))

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> RepairReport:
        """Encode damaged documents again from their stored text, or read their files again.

        What is sound stays as it is. A database whose pages are damaged is kept under another name.

        Args:
            progress: Called with documents done, and their number, for each of three steps.

        Raises:
            CorpusDamaged: Nothing in the file can be read.
            CorpusLocked: Another process is writing.
        """
        from indexing.store.verification import Damage, verify
        from rag_app.corpus.verification import (
            DocumentRepair,
            RepairReport,
            open_damaged,
            salvage_database,
        )

        with self._stores.lock():
            try:
                store = open_damaged(self.folder)
            except CorpusDamaged as error:
                raise irreparable(error) from error
            with closing(store):
                damages = verify(store.database, progress=progress)
                derived = self._damage(store) if not damages else ""
                salvaged = salvage_database(store, damages, progress=progress)
            self._stores.close()
            store = self._stores.connection()
            encoder = cache(lambda: self._models.encoder(store.fingerprint()))
            work = DocumentRepair(store, encoder, self._reader.read)
            repaired, lost = work.run(damages, salvaged.records, progress)
            if damages or derived:
                self._rebuild(store)
        found = [*damages, *([Damage("index", derived)] if derived else [])]
        remaining = (*salvaged.lost, *lost)
        return RepairReport(tuple(found), tuple(repaired), remaining, salvaged.aside)

    def backup(self, path: str | Path) -> Backup:
        """Write the corpus as it is now to one file, while others search and write.

        With conversations and uploaded files, if a server keeps any; without derived indexes.

        Args:
            path: The file; an earlier backup of that name is replaced when the new one is whole.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusError: The file cannot be written.
        """
        from rag_app.corpus.copies.backup import write_backup

        return write_backup(self._stores.connection(), Path(path).absolute(), version=_version())

    def restore(self, path: str | Path, *, replace: bool = False) -> Backup:
        """Bring a backup back; programs that have the corpus open go on with what it held.

        Args:
            path: A file that `backup` wrote.
            replace: Whether a corpus in the folder, sound or damaged, gives way to it.

        Raises:
            InvalidRequest: There is a corpus in the folder, and it is not to be replaced.
            UnreadableFile: The file is no backup, or damaged; nothing is changed then.
            CorpusLocked: Another process is writing.
        """
        from rag_app.corpus.copies.backup import read_backup

        with self._stores.lock():
            self._stores.close()
            backup = read_backup(Path(path), self.folder, replace_=replace)
            self._rebuild(self._stores.connection())
        return backup

    def export_archive(
        self, path: str | Path, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Write documents and vectors as JSON and NumPy arrays, for other versions; how many.

        Args:
            path: The file; an earlier export of that name is replaced when the new one is whole.
            progress: Called with documents written, and their number.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusError: The file cannot be written.
        """
        from rag_app.corpus.copies.exchange import write_export

        store = self._stores.connection()
        return write_export(store, Path(path), version=_version(), progress=progress)

    def import_archive(
        self, path: str | Path, *, progress: Callable[[int, int], None] | None = None
    ) -> ImportReport:
        """Add the documents of an export; those whose content is here already are left out.

        They go into the collections that they were in, which are made where there are none. They
        are encoded again where the vectors here are made in another way.

        Args:
            path: A file that `export_archive` wrote, on any machine.
            progress: Called with documents done, and their number.

        Raises:
            UnreadableFile: The file is no export, or damaged; documents before the damage are
                added.
            CorpusLocked: Another process is writing.
        """
        from rag_app.corpus.copies import archive
        from rag_app.corpus.copies.exchange import FORMAT, import_documents

        with (
            archive.reading(Path(path), kind="export", format_=FORMAT) as export,
            self.writing() as store,
        ):
            encoder = self._models.encoder(store.fingerprint())
            result = import_documents(store, export, encoder, progress=progress)
            self._refresh(store)
        return result

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
            where: Limits by collection, document, path, speaker, date and participants.
            ranking: A name from `retriever.fusion.RANKINGS`.

        Raises:
            InvalidRequest: An empty query or an impossible number or name.
            CorpusNotFound: There is no corpus in the folder.
        """
        _require_ranking(ranking)
        with self._pinned(where) as shards:
            return self._search(shards, query, k, passages, where, ranking)

    def partial_search(
        self,
        query: str,
        *,
        k: int = 5,
        passages: int = 3,
        where: Filter | None = None,
        ranking: str = "default",
    ) -> PartialHits:
        """As `search`; under `missing_shards="answer"` without the shards that are lost.

        Which those were is said beside the hits.
        """
        from rag_app.corpus.shards.missing import PartialHits

        _require_ranking(ranking)
        store = self._stores.connection()
        with self._pinned(where, missing=self._missing_shards) as shards, store.reading():
            hits = self._search(shards, query, k, passages, where, ranking)
            return PartialHits(hits, _missing(shards, store.limited(where)))

    @contextmanager
    def retriever(self, ranking: str = "default") -> Iterator[Retriever]:
        """What `search` asks: scores of everything, over the corpus as it is at one moment.

        A corpus in shards is scored in one piece here, from a snapshot that is built for it.

        Raises:
            InvalidRequest: There is no ranking by that name.
            CorpusNotFound: There is no corpus in the folder.
        """
        from retriever.fusion import RANKINGS
        from retriever.retriever import Retriever

        _require_ranking(ranking)
        with self.reading() as now:
            encoder = self._models.query_encoder(now.store.fingerprint())
            yield Retriever(now.store, now.snapshot, encoder.encode_queries, RANKINGS[ranking])

    @contextmanager
    def divided_retriever(self, ranking: str = "default") -> Iterator[Retriever]:
        """As `retriever`, but a corpus in shards is scored by its shards, in this process."""
        from retriever.retriever import DividedRetriever

        with self.retriever(ranking) as whole:
            if self._shards.manifest is None:
                yield whole
                return
            with self._shards.reading() as shards:
                parts = shards.retrievers(whole.embed, whole.ranking)
                yield DividedRetriever(
                    whole.store, whole.snapshot, whole.embed, whole.ranking, tuple(parts)
                )

    def ask(  # noqa: PLR0913 - six of them optional, by keyword
        self,
        question: str,
        *,
        answer: Mode | None = None,
        k: int = EVIDENCE_DOCUMENTS,
        where: Filter | None = None,
        history: Sequence[Turn] = (),
        read_as: ReadAs = "auto",
        evidence: EvidenceUnit | None = None,
        length: Length = "usual",
        form: Form = "usual",
    ) -> Answer:
        """Answer a question; arguments and errors as in `stream`."""
        limits = where or Filter()
        return self.answer(
            AskRequest(
                question,
                answer,
                k,
                limits,
                tuple(history),
                read_as=read_as,
                evidence=evidence,
                length=length,
                form=form,
            )
        )

    def stream(  # noqa: PLR0913 - six of them optional, by keyword
        self,
        question: str,
        *,
        answer: Mode | None = None,
        k: int = EVIDENCE_DOCUMENTS,
        where: Filter | None = None,
        history: Sequence[Turn] = (),
        read_as: ReadAs = "auto",
        evidence: EvidenceUnit | None = None,
        length: Length = "usual",
        form: Form = "usual",
    ) -> Iterator[Event]:
        """Answer a question, event by event: ContextReady, TextDelta (many), AnswerReady.

        Args:
            question: What to answer.
            answer: "quote" for verbatim sentences only, "free" for a generated answer; None takes
                the settings' choice.
            k: Documents to take evidence from, at most.
            where: Limits by collection, document, path, speaker, date and participants.
            history: The conversation so far, oldest turn first. A question that leans on it ("And
                who disagreed?") is completed from it before evidence is retrieved.
            read_as: "auto" to answer requests such as "Who attended meeting-2?" from the store,
                and to limit a question to the documents that it names; "question" to look it up as
                it is. How it was read is in the answer's `kind` and `read_as`.
            evidence: "documents" to let a language model read the best documents whole, as many as
                its window holds, "passages" for their best passages, "auto" for what suits the
                model; None takes the settings' choice. What was read of each is in `context`.
            length: "short", "usual" or "long".
            form: "usual"; "words" for only the words that answer, where some stand out; "list" for
                points. Quotes stand a line each; a language model is told so, and may not keep to
                it. What became of it is in the answer's `made`.

        Raises:
            InvalidRequest: An empty question, or an impossible number.
            CorpusNotFound: There is no corpus in the folder.
        """
        limits = where or Filter()
        return self.events(
            AskRequest(
                question,
                answer,
                k,
                limits,
                tuple(history),
                read_as=read_as,
                evidence=evidence,
                length=length,
                form=form,
            )
        )

    def answer(self, request: AskRequest) -> Answer:
        """Answer a request; errors as in `stream`.

        Raises:
            WorkersLost: Every worker of the cluster that tried has died.
            ClusterLost: The cluster does not answer.
        """
        from generator.answer import AnswerReady

        for event in self._events(request, None, on_workers=self._workers is not None):
            if isinstance(event, AnswerReady):
                return event.answer
        raise AssertionError("a stream ends with its answer")

    def events(
        self, request: AskRequest, *, stop: threading.Event | None = None
    ) -> Generator[Event]:
        """The events of a request's answer; `stop`, set by another thread, ends it early."""
        return self._events(request, stop)

    @property
    def questions_at_once(self) -> int:
        """How many questions `answer` is best asked at once: on a cluster, two for each worker."""
        return 1 if self._workers is None else max(1, 2 * self._pool.count)

    def _events(
        self, request: AskRequest, stop: threading.Event | None, *, on_workers: bool = False
    ) -> Generator[Event]:
        from generator.answer import AnswerReady, with_entries

        started = time.perf_counter()
        route = self._route(request)
        if route.lines is not None:
            yield from route.events(time.perf_counter() - started)
            return
        retrieval, missing = self._retrieve(route.request)
        searched = replace(retrieval, seconds=time.perf_counter() - started)
        if on_workers:
            answer = self._generate(route.request, searched)
            yield with_entries(route.marked(AnswerReady(answer)), missing)
            return
        for event in self._generator().stream(route.request, searched, stop=stop):
            marked = route.marked(event) if isinstance(event, AnswerReady) else event
            yield with_entries(marked, missing)

    def check_position(
        self,
        request: AskRequest,
        *,
        usual: Answer | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> PositionCheck:
        """Whether an answer stays the same with its evidence in other orders, Ms-PoE on and off.

        Nothing else may be asked of this corpus meanwhile.

        Args:
            request: What to answer.
            usual: The answer, if there is one already; else it is made first.
            progress: Called with how many variants are done, of how many.
        """
        from generator.position_check import check

        route = self._route(request)
        if route.lines is not None:
            raise InvalidRequest(
                f"the answer to {route.read_as} is computed, so it rests on no order of "
                "passages; check the position with a question"
            )
        request = route.request
        (retrieval, _), generator = self._retrieve(request), self._generator()
        usual = usual or generator.answer(request, retrieval)
        return check(generator, request, retrieval, usual, progress=progress)

    def documents(self, *, where: Filter | None = None) -> list[DocumentEntry]:
        """All documents, in the order they were added.

        Args:
            where: Limits by collection, document, path, date and participants.

        Raises:
            CollectionNotFound: The filter names one that is not there.
        """
        store, where = self._stores.connection(), where or Filter()
        with store.reading():
            limited = store.limited(where)
            entries = limited.entries()
            people = limited.people_by_id() if where.participants else {}
        return [
            one
            for one in entries
            if where.admits(
                id_=one.id,
                title=one.title,
                path=one.path,
                day=one.occasion.day,
                people=people.get(one.id, ()),
            )
        ]

    def nothing_matches(self, where: Filter) -> str:
        """What to say where no document is of the dates and people of a filter; "" where one is."""
        from rag_app.requests.occasions import nothing_in_words

        if not where.is_of_occasions or self.documents(where=where):
            return ""
        others = replace(where, since=None, until=None, participants=())
        return nothing_in_words(where, [one.occasion.day for one in self.documents(where=others)])

    def document(self, name: str, *, where: Filter | None = None) -> Document:
        """A whole document with its text, by id, path or title.

        Args:
            name: Its name.
            where: Limits by collection.

        Raises:
            DocumentNotFound: The name fits no document, or several.
        """
        store = self._stores.connection()
        with store.reading():
            limited = store.limited(where)
            return limited.document(_one_document(name, limited))

    def overview(self, name: str, *, where: Filter | None = None) -> Overview:
        """A document's length, speakers, topics, decisions and actions, all of it in its own words.

        Loads no model. Names and limits as in `document`.

        Raises:
            DocumentNotFound: The name fits no document, or several.
        """
        from generator.overview.overview import overview

        store = self._stores.connection()
        with store.reading():
            limited = store.limited(where)
            id_ = _one_document(name, limited)
            document, passages = limited.document(id_), store.passages_of(id_)
            vectors = store.passage_vectors_of(id_)
        return overview(document, passages, vectors)

    def similar(
        self, name: str, *, k: int = 5, where: Filter | None = None
    ) -> list[SimilarDocument]:
        """The k documents that are most similar to one, best first, by whole-document vectors.

        Args:
            name: Its id, path or title.
            k: Documents at most.
            where: Limits by collection, document and path.

        Raises:
            DocumentNotFound: The name fits no document, or several.
            InvalidRequest: k is less than 1.
        """
        from retriever.similar_documents import similar_documents

        with self.reading() as now:
            limited = now.store.limited(where)
            id_ = _one_document(name, limited)
            if self._shards.manifest is not None:
                with self._shards.reading(limited.scope) as shards:
                    return shards.similar(id_, k=k, where=where)
            return similar_documents(id_, [(limited, now.snapshot)], k=k, where=where)

    def info(self) -> CorpusInfo:
        """What the corpus holds and how it was made."""
        store = self._stores.connection()
        manifest = self._shards.manifest
        with store.reading():
            saved = (
                self._shards.are_current(store) if manifest else self._snapshots.are_saved(store)
            )
            shards = len(manifest.shards) if manifest else 0
            return corpus_info(self.folder, store, saved=saved, shards=shards)

    @property
    def exists(self) -> bool:
        """Whether there is a corpus in the folder."""
        return (self.folder / FILE_NAME).exists()

    @property
    def limits(self) -> FileLimits:
        """What one file may take to be read."""
        return self._limits

    @property
    def ocr(self) -> OcrSettings:
        """How pages that are pictures are read."""
        return self._reader.ocr

    def figure(self, document: str, key: str, *, where: Filter | None = None) -> Figure:
        """A figure of a document with its data.

        Args:
            document: The document's id.
            key: The figure's.
            where: Limits of what may be shown.

        Raises:
            DocumentNotFound: There is no such document, or it has no such figure.
        """
        store = self._stores.connection()
        with store.reading():
            limited = store.limited(where)
            data = limited.figure(document, key)
            figures = limited.document(document).figures
        return replace(next(one for one in figures if one.key == key), data=data)

    @property
    def generator_settings(self) -> GeneratorSettings:
        """How it answers."""
        return self._models.generator_settings

    def use_generator(self, settings: GeneratorSettings, *, key: str | None = None) -> None:
        """Answer in another way from the next question on.

        Args:
            settings: How to answer.
            key: For the model's server; "" for none, None for the environment's.
        """
        self._models.use_generator(settings, key=key)

    # For whoever brings vectors of their own

    @contextmanager
    def reading(self) -> Iterator[CorpusView]:
        """The corpus as it is now, whatever is written meanwhile.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        store = self._stores.connection()
        with store.reading():
            yield CorpusView(store, self._snapshots.current)

    @contextmanager
    def writing(self) -> Iterator[Store]:
        """The store, while no other process can write to it.

        Raises:
            CorpusLocked: Another process is writing.
            CorpusError: The folder cannot be written to.
        """
        with self._stores.writing() as store:
            yield store

    # Wiring

    def _refresh(self, store: Store) -> None:
        """Bring what is derived up to a changed store, while the write lock is held."""
        if self._shards.manifest is None:
            self._snapshots.refresh(store)
        else:
            self._publish(store)

    def _publish(self, store: Store) -> None:
        """Bring shards, if there are any, up to a changed store."""
        self._shards.publish(store)
        self._load_actors()

    def _rebuild(self, store: Store) -> None:
        """Make what is derived again, while the write lock is held."""
        if self._shards.manifest is None:
            self._snapshots.rebuild(store)
        else:
            self._shards.rebuild(store)
            self._load_actors()

    def _damage(self, store: Store) -> str:
        """What is wrong with what is derived; "" where nothing is."""
        if self._shards.manifest is None:
            return self._snapshots.damage(store)
        return self._shards.damage()

    def _load_actors(self) -> None:
        """Let a cluster load what was published; what it does not is loaded with a question."""
        manifest = self._shards.manifest
        if manifest and manifest.ray:
            from rag_app.corpus.shards.ray_cluster import start

            try:
                start(self.folder, manifest)
            except RagAppError as error:
                if self._notify is not None:
                    self._notify(str(error))

    def _release_actors(self) -> None:
        """End the actors of a cluster that searched until now."""
        self._lost_replicas = LostReplicas()
        try:
            manifest = self._shards.manifest
        except CorpusDamaged:  # about to be made again
            return
        if manifest and manifest.ray:
            from rag_app.corpus.shards.ray_cluster import release

            release(self.folder, manifest)

    @contextmanager
    def _pinned(
        self, where: Filter | None, *, missing: MissingShards = "fail"
    ) -> Iterator[PinnedShards | RemoteShards | None]:
        """The shards as they are published now; None where the corpus is in one piece."""
        store, manifest = self._stores.connection(), self._shards.manifest
        if manifest is None:
            yield None
            return
        with store.reading():
            scope = store.limited(where).scope
        if manifest.ray:
            from rag_app.corpus.shards.ray_cluster import RemoteShards

            away = self._lost_replicas
            yield RemoteShards(self.folder, manifest, scope, missing=missing, away=away)
            return
        with self._shards.reading(scope) as shards:
            yield shards

    def _search(  # noqa: PLR0913, PLR0917 - as in `search`
        self,
        shards: PinnedShards | RemoteShards | None,
        query: str,
        k: int,
        passages: int,
        where: Filter | None,
        ranking: str,
    ) -> list[Hit]:
        from retriever.fusion import RANKINGS

        if shards is None:
            with self.retriever(ranking) as retriever:
                return retriever.search(query, k=k, passages=passages, where=where)
        encoder = self._models.query_encoder(self._stores.connection().fingerprint())
        return shards.search(
            query,
            k=k,
            passages=passages,
            where=where,
            embed=encoder.encode_queries,
            ranking=RANKINGS[ranking],
        )

    @cached_property
    def _reader(self) -> FileReader:
        from indexing.files import FileReader

        return FileReader(self._limits, self._ocr)

    @cached_property
    def _router(self) -> Router:
        from rag_app.requests.router import Router

        return Router()

    def _indexer(
        self,
        store: Store,
        progress: Callable[[Progress], None] | None,
        *,
        recheck: bool = False,
        collection: str = DEFAULT,
    ) -> Indexer:
        from indexing.indexer import Indexer

        if (workers := self._workers) is not None:

            @cache
            def lookahead() -> Lookahead:
                found = self._models.encoder_on(workers, store.fingerprint())
                store.set_fingerprint(found.fingerprint)
                return found

            return Indexer(
                store, lookahead, progress, self._reader, recheck, collection, ahead=lookahead
            )
        self._models.check(store.fingerprint())

        @cache
        def encoder() -> Encoder:
            loaded = self._models.encoder(store.fingerprint())
            store.set_fingerprint(loaded.fingerprint)
            return loaded

        return Indexer(store, encoder, progress, self._reader, recheck, collection)

    @property
    def _required_workers(self) -> RayWorkers:
        assert self._workers is not None, "there are some wherever they are used"
        return self._workers

    @cached_property
    def _pool(self) -> WorkerPool:
        from rag_app.corpus.cluster.workers import WorkerPool

        return WorkerPool(self._required_workers, self._notify)

    @property
    def _generate(self) -> Generate:
        """What answers on the cluster."""
        from rag_app.corpus.cluster.answers import generate_on

        stored = self._stores.connection().fingerprint()
        return generate_on(self._pool, self.generator_settings, stored)

    def _route(self, request: AskRequest) -> Route:
        """How a request is answered: from the store, or by a search of the documents it names."""
        store = self._stores.connection()
        with store.reading():
            return self._router.route(request, store.limited(request.where))

    def _retrieve(self, request: AskRequest) -> tuple[Retrieval, tuple[ContextEntry, ...]]:
        """The hits for a request's query, and their documents, as they are at one moment.

        Beside them a line of the ledger for each lost shard that was left out.
        """
        try:
            return self._retrieve_once(request)
        except ShardLost:
            if self._missing_shards == "fail":
                raise
            return self._retrieve_once(request)  # it had hits, and is known to be lost by now

    def _retrieve_once(self, request: AskRequest) -> tuple[Retrieval, tuple[ContextEntry, ...]]:
        store, where = self._stores.connection(), request.where
        with self._pinned(where, missing=self._missing_shards) as shards, store.reading():
            hits = self._search(
                shards, request.query, request.k, EVIDENCE_PASSAGES, where, "default"
            )
            source = store.limited(where) if shards is None else shards
            documents = {hit.document: source.document(hit.document) for hit in hits}
            missing = _missing(shards, store.limited(where))
        return Retrieval(hits, documents.__getitem__), missing

    def _generator(self) -> AnswerGenerator:
        return self._models.generator(self._stores.connection().fingerprint())


def _one_document(name: str, store: Store) -> str:
    """The id of the only document that a name stands for."""
    ids = documents_named(name, store.entries())
    if len(ids) > 1:
        raise DocumentNotFound(f"{name}: {len(ids)} documents; give an id: rag-app list")
    return ids[0]


def _missing(shards: PinnedShards | RemoteShards | None, store: Store) -> tuple[ContextEntry, ...]:
    """Lines of the ledger for the lost shards that a search left out; none in one piece."""
    if shards is None or not shards.lost:
        return ()
    from rag_app.corpus.shards.missing import ledger_lines

    return ledger_lines(shards.lost, shards.names, store.entries())


def _require_ranking(name: str) -> None:
    from retriever.fusion import RANKINGS

    if name not in RANKINGS:
        raise InvalidRequest(f"no ranking {name!r}; there are: {', '.join(RANKINGS)}")


def _version() -> str:
    from importlib.metadata import version

    return version("rag-app")
