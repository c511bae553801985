"""Corpus: a folder of indexed documents that can be searched and asked. The facade of all parts."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Unpack

from generator.request import AskRequest
from indexing.documents import Document, Figure, Hit
from indexing.encoder.settings import EncoderSettings
from indexing.filter import OWNER, Filter, Scope
from indexing.limits import FileLimits
from indexing.store.collections import DEFAULT
from indexing.store.database import Synchronous
from indexing.store.store import Store
from indexing.store.view import DocumentEntry
from rag_app.corpus.contents.aliases import CorpusAliases
from rag_app.corpus.contents.collections import CorpusCollections
from rag_app.corpus.contents.documents import CorpusDocuments
from rag_app.corpus.contents.info import CorpusInfo, corpus_info
from rag_app.corpus.contents.speakers import CorpusSpeakers
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.ingestion import Ingestion
from rag_app.corpus.maintenance import Maintenance
from rag_app.corpus.models import Models
from rag_app.corpus.parts import CorpusView
from rag_app.corpus.question_answering import QuestionAnswering
from rag_app.corpus.search import Search
from rag_app.corpus.shards.manifest import Division, MissingShards
from rag_app.corpus.stores import Stores
from rag_app.corpus.write_lock import WAIT
from rag_app.request_fields import (
    AskOptions,
    SearchOptions,
    ask_request,
    search_request,
    spelled_out,
)

if TYPE_CHECKING:
    from generator.answer import Answer, Event
    from generator.evidence import Sentence
    from generator.extractive.conformal import AbstentionRecord
    from generator.overview.commitments import CommitmentKind
    from generator.overview.overview import Overview
    from generator.position_check import PositionCheck
    from generator.register.entry import Register, State
    from generator.settings import GeneratorSettings
    from indexing.encoder.encoder import Encoder
    from indexing.index_report import IndexReport, Progress
    from indexing.ocr.reading import OcrSettings
    from rag_app.corpus.cluster.workers import RayWorkers
    from rag_app.corpus.copies.backup import Backup
    from rag_app.corpus.copies.exchange import ImportReport
    from rag_app.corpus.shards.manifest import ShardManifest
    from rag_app.corpus.shards.missing import PartialHits
    from rag_app.corpus.verification import RepairReport, Verification
    from retriever.retriever import Retriever
    from retriever.similar_documents import SimilarDocument

DEFAULT_FOLDER = ".rag-app"


class Corpus:
    """A corpus on disk.

    Everything is lazy: the corpus is created by the first `add`, the encoder is loaded by the
    first `add` or `search`, and the language model only for generated answers.

    Threads may share a corpus. Each gets its own connection, so a search can run during an `add`,
    and sees the corpus at one moment.

    Args:
        folder: The corpus's folder, or ray://HOST:PORT/NAME of one on a Ray cluster, whose workers
            then encode and answer. None takes $RAG_APP_CORPUS, or else `.rag-app` in the current
            folder.
        encoder: How to encode, or an encoder that is already loaded. None takes the one that the
            corpus was made with, or the packaged default.
        generator: How to answer.
        limits: Limits on reading one file.
        ocr: How to read pages that are pictures; None for any engine that is installed.
        notify: Called with a message about anything that takes long.
        synchronous: What may be lost in a power cut. "normal": the latest documents, which the next
            `add` reads again. "full": nothing, but every commit waits for the disk.
        wait: Seconds for which whatever writes waits for those who came before it, of this process
            and of others; it says so to `notify`.
        quick_start: Whether searches and quotes use exported models, which load at once; for
            programs that end after a few questions. Models are exported at first use, once per
            machine. Otherwise torch is loaded, which takes seconds but then less time per question.
        workers: A Ray cluster whose workers encode what is added, and make the answers of `ask` and
            `answer`; None for this process. Streams always run in this process.
        missing_shards: What happens to a question when a shard on a cluster is lost with all its
            replicas: "fail", or "answer" from the other shards, with a line in the answer's
            `context` for each lost shard and its documents. `search` cannot return such lines, so
            it always fails; `partial_search` can.

    Raises:
        EncoderMismatch: Raised by whatever needs vectors, if the corpus was encoded in another way.
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
        wait: float = WAIT,
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
        self._limits = limits or FileLimits()
        self._stores = Stores(self.folder, synchronous=synchronous, wait=wait, notify=notify)
        self._indexes = Indexes(self.folder, self._stores, synchronous=synchronous, notify=notify)
        self._models = Models(
            self.folder,
            encoder=encoder,
            generator=generator,
            quick_start=quick_start,
            notify=notify,
        )
        self._scope = OWNER
        self._ingestion = Ingestion(
            self._stores,
            self._indexes,
            self._models,
            workers=workers,
            limits=self._limits,
            ocr=ocr,
        )
        self._maintenance = Maintenance(
            self.folder, self._stores, self._indexes, self._models, self._ingestion
        )
        self._search = Search(
            self._stores, self._indexes, self._models, missing_shards, self.folder
        )
        self._answering = QuestionAnswering(
            self._stores, self._search, self._models, workers=workers, notify=notify
        )

    def seen_by(self, scope: Scope) -> Corpus:
        """The same corpus, in which only what somebody may read is there to be read.

        It shares everything with this one, and is closed with it. What changes the corpus is not
        limited by it: `Access` says what somebody may change.
        """
        if scope == self._scope:
            return self
        seen = copy(self)
        seen._scope = scope
        return seen

    @property
    def scope(self) -> Scope:
        """What is there to be read: everything, unless it was made by `seen_by`."""
        return self._scope

    @property
    def _documents(self) -> CorpusDocuments:
        return CorpusDocuments(self._stores, self._indexes, self._scope)

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
        """Close files and drop models; both are opened again when the corpus is used again."""
        for part in (self._stores, self._indexes, self._models, self._ingestion):
            part.close()

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
        """Add or update files and folders; unchanged files are skipped.

        A file that cannot be read is listed in the report's `failures`, and unread parts of a file,
        such as scanned pages, in `unread`; all other files are still added. If there is no corpus
        and no readable file, no corpus is created.

        Args:
            paths: Files and folders.
            progress: Called as the work proceeds.
            recheck: Read every file again, even if its size and time have not changed.
            collection: Where documents go; created if it does not exist. Documents that another
                collection holds are not encoded again, and that collection keeps them unchanged.
            owner: The login that is to own the collection; None leaves its owner as it is.
            among: Consider only these of the files under the paths; None for all.

        Raises:
            CorpusLocked: Others are writing, for longer than this waits.
            EncoderMismatch: The corpus was encoded in another way.
            InvalidRequest: The collection's name is not valid, or somebody else owns it.
        """
        if isinstance(paths, str | Path):
            paths = [paths]
        return self._ingestion.add(
            [Path(path) for path in paths],
            progress=progress,
            recheck=recheck,
            collection=collection,
            owner=owner,
            among=among,
        )

    def add_text(
        self, text: str, *, name: str, title: str | None = None, collection: str = DEFAULT
    ) -> IndexReport:
        """Add or update a text that is not a file, under a name.

        Raises:
            InvalidRequest: The text is empty.
        """
        from indexing.files import document as text_document

        document = text_document(text, name=name, title=title)
        return self.add_documents([document], collection=collection)

    def add_documents(
        self, documents: Iterable[Document], *, collection: str = DEFAULT
    ) -> IndexReport:
        """Add or update documents that were read or made elsewhere; unchanged ones are skipped.

        Args:
            documents: Consumed one by one, a little ahead of the encoding, so that a generator can
                report progress.
            collection: Where they go; created if it does not exist.
        """
        return self._ingestion.add_documents(documents, collection)

    def remove(self, names: Iterable[str | Path], *, collection: str | None = None) -> int:
        """Remove documents by id or title, or all documents of a file or folder.

        Args:
            names: Ids, titles, files or folders.
            collection: Remove from this collection only; other collections keep the document. None
                removes it from all.

        Returns:
            How many documents were removed.

        Raises:
            DocumentNotFound: A name fits no document; nothing is removed then.
            InvalidRequest: A title fits several; nothing is removed then.
            CollectionNotFound: There is no collection of that name.
        """
        if isinstance(names, str | Path):
            names = [names]
        return self._documents.remove(names, collection)

    def missing(self, *, where: Filter | None = None) -> list[DocumentEntry]:
        """Documents whose file no longer exists, in any collection that holds them.

        Args:
            where: Limits by collection.
        """
        return self._documents.missing(where)

    @property
    def collections(self) -> CorpusCollections:
        """The collections: list, create, change and delete them."""
        return CorpusCollections(self._stores, self._indexes, self._scope)

    @property
    def speakers(self) -> CorpusSpeakers:
        """The speakers in the documents: list, rename and merge them."""
        return CorpusSpeakers(self._stores, self._indexes, self._scope)

    @property
    def aliases(self) -> CorpusAliases:
        """Names with their other spellings: list, add, remove and propose them."""
        return CorpusAliases(self.folder, self._stores, self._scope)

    @property
    def revision(self) -> str:
        """Changes with every change of documents or collections; "" if there is no corpus.

        Compare it only with other revisions. It is cheap enough to be read every second.
        """
        return self._stores.connection().revision if self.exists else ""

    def waiting(self, seconds: float) -> AbstractContextManager[None]:
        """What this thread writes inside waits for others so long, instead of for `wait`."""
        return self._stores.waiting(seconds)

    def reencode(self, *, progress: Callable[[Progress], None] | None = None) -> int:
        """Encode every document again with this object's settings; how many in this run."""
        return self._ingestion.reencode(progress)

    def prepare(self) -> None:
        """Export the models of a quick start if necessary: some seconds, once per machine.

        Otherwise the first search or question with `quick_start` does it.
        """
        if (stored := self._stores.connection().fingerprint()) is not None:
            self._models.prepare(stored)

    # Shards

    @property
    def shards(self) -> ShardManifest | None:
        """The shards that the corpus is divided into; None if it is in one piece.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        self._stores.connection()
        return self._indexes.manifest

    def divide(
        self,
        shards: int,
        *,
        ray: str = "",
        replicas: int = 1,
        name: str = "",
        gpus: float = 0.0,
    ) -> ShardManifest:
        """Divide the corpus into shards, or into another number of them; what was published.

        Documents are assigned by a hash of their ids, and none is encoded again. From then on,
        every change of the corpus publishes the shards that it affects, and searches read what is
        published. Their results are those of an undivided corpus.

        Args:
            shards: How many, 1 to 4096.
            ray: The address of a Ray cluster whose machines search the shards, each with this
                folder under the same path; "" to search them in the process that asks.
            replicas: On how many machines of the cluster each shard is loaded.
            name: The corpus's name on the cluster, as in ray://HOST:PORT/NAME; "" for the name of
                its folder.
            gpus: GPUs for each process on the cluster, which compare the vectors of its shard;
                0.25 lets four share one. Scores differ from those of CPUs in their last bits.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusLocked: Others are writing, for longer than this waits.
            InvalidRequest: The number is out of range, no cluster answers at the address, or its
                machines have too few GPUs.
            ShardLost: A shard does not start on the cluster.
        """
        return self._indexes.divide(Division(shards, ray, replicas, name, gpus))

    def unite(self) -> None:
        """Return to one piece. Errors as in `divide`."""
        self._indexes.unite()

    # Maintenance

    def optimize(self) -> int:
        """Merge the segments of the index into one; how many there were.

        Nothing has to be done for searches to stay quick: segments of a size are merged as they
        come. One is a little quicker still, and takes no room for what has been removed.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        self._stores.connection()
        with self._stores.writing() as store:
            return self._indexes.optimize(store)

    def merge_in_background(self) -> None:
        """Begin to merge segments that are due, for programs that stay, in a pause.

        Others may write meanwhile; closing the corpus, or a crash, ends it without loss.
        """
        if self.exists:
            self._indexes.merge_in_background()

    def verify(self, *, progress: Callable[[int, int], None] | None = None) -> Verification:
        """Compare everything stored with its checksums; damaged documents are listed by name.

        Other processes may search and write at the same time.

        Args:
            progress: Called with the number of documents verified, and their total.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        return self._maintenance.verify(progress)

    def repair(self, *, progress: Callable[[int, int], None] | None = None) -> RepairReport:
        """Encode damaged documents again from their stored text, or read their files again.

        Sound documents stay as they are. A database with damaged pages is kept under another name.

        Args:
            progress: Called with the number of documents done, and their total, in each of three
                steps.

        Raises:
            CorpusDamaged: Nothing in the file can be read.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        return self._maintenance.repair(progress)

    def backup(self, path: str | Path) -> Backup:
        """Write the corpus as it is now to one file; others may search and write meanwhile.

        Includes a server's conversations and uploaded files, but no derived indexes.

        Args:
            path: The file; an earlier backup of that name is replaced once the new one is complete.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
            CorpusError: The file cannot be written.
        """
        from rag_app.corpus.copies.backup import write_backup

        return write_backup(self._stores.connection(), Path(path).absolute(), version=_version())

    def restore(self, path: str | Path, *, replace: bool = False) -> Backup:
        """Restore a backup; programs that have the corpus open then use what it contains.

        Args:
            path: A file that `backup` wrote.
            replace: Whether to replace a corpus in the folder, sound or damaged.

        Raises:
            InvalidRequest: There is a corpus in the folder, and `replace` is false.
            UnreadableFile: The file is not a backup, or is damaged; then nothing is changed.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        return self._maintenance.restore(Path(path), replace=replace)

    def export_archive(
        self, path: str | Path, *, progress: Callable[[int, int], None] | None = None
    ) -> int:
        """Write documents and vectors as JSON and NumPy arrays, for other versions; how many.

        Args:
            path: The file; an earlier export of that name is replaced once the new one is complete.
            progress: Called with the number of documents written, and their total.

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
        """Add the documents of an export, except those whose content is already here.

        They go into the collections that they were in, which are created if necessary. They are
        encoded again if this corpus's vectors are made in another way.

        Args:
            path: A file that `export_archive` wrote, on any machine.
            progress: Called with the number of documents done, and their total.

        Raises:
            UnreadableFile: The file is not an export, or is damaged; documents before the damage
                are added.
            CorpusLocked: Others are writing, for longer than this waits.
        """
        return self._ingestion.import_archive(Path(path), progress)

    # Reading

    @spelled_out(SearchOptions)
    def search(self, query: str, **options: Unpack[SearchOptions]) -> list[Hit]:
        """The k best documents, best first, each with its best passages.

        Args:
            query: A question or a description, of any length.
            options: The fields of a search (`rag_app.request_fields`): `k`, `passages` of each
                document, `ranking`, and limits such as `speaker`, or a `Filter` as `where`.

        Raises:
            InvalidRequest: The query is empty, a number is out of range, or there is no such
                ranking.
            CorpusNotFound: There is no corpus in the folder.
        """
        return self._search.hits(search_request(query, options), self._scope)

    @spelled_out(SearchOptions)
    def partial_search(self, query: str, **options: Unpack[SearchOptions]) -> PartialHits:
        """As `search`; with `missing_shards="answer"`, without the shards that are lost.

        The result lists them beside the hits.
        """
        return self._search.partial(search_request(query, options), self._scope)

    def retriever(self, ranking: str = "default") -> AbstractContextManager[Retriever]:
        """The retriever behind `search`, for scores of everything in the corpus at one moment.

        A corpus in shards is scored undivided here, with a snapshot that is built for it.

        Raises:
            InvalidRequest: There is no ranking by that name.
            CorpusNotFound: There is no corpus in the folder.
        """
        return self._search.retriever(ranking, self._scope)

    @spelled_out(AskOptions)
    def ask(self, question: str, **options: Unpack[AskOptions]) -> Answer:
        """Answer a question; arguments and errors as in `stream`."""
        return self.answer(ask_request(question, options))

    @spelled_out(AskOptions)
    def stream(self, question: str, **options: Unpack[AskOptions]) -> Iterator[Event]:
        """Answer a question, event by event: ContextReady, TextDelta (many), AnswerReady.

        Args:
            question: What to answer.
            options: The fields of a request, as `AskRequest` describes them, and limits such as
                `speaker`, or a `Filter` as `where`.

        Raises:
            InvalidRequest: The question is empty, or a number is out of range.
            CorpusNotFound: There is no corpus in the folder.
        """
        return self.events(ask_request(question, options))

    def answer(self, request: AskRequest) -> Answer:
        """Answer a request; errors as in `stream`.

        Raises:
            WorkersLost: Every worker of the cluster that tried to answer has died.
            ClusterLost: The cluster does not answer.
        """
        return self._answering.answer(request, self._scope)

    def write_proof(self, answer: Answer, path: str | Path) -> None:
        """Write an answer as one file that anybody can check (`rag_app.check_proof`).

        Args:
            answer: An answer of this corpus.
            path: A page if it ends in .html, else .json; a file of that name is replaced.

        Raises:
            InvalidRequest: The name ends in neither, or a document that is quoted has changed.
            DocumentNotFound: A document that is quoted is no longer there.
            InputError: The file cannot be written.
        """
        from rag_app.proof.proof import write_proof

        write_proof(self, answer, Path(path))

    def events(
        self, request: AskRequest, *, stop: threading.Event | None = None
    ) -> Generator[Event]:
        """The events of a request's answer; `stop`, set by another thread, ends it early."""
        return self._answering.events(request, self._scope, stop)

    def answer_probability(
        self, request: AskRequest, *, without: Callable[[Sentence], bool] | None = None
    ) -> float:
        """The probability that the documents answer a question, 0 to 1, without answering it.

        Args:
            request: The question.
            without: Which sentences of the evidence are left out, as if no document had them.
        """
        return self._answering.probability(request, self._scope, without)

    def abstention(self) -> AbstentionRecord | None:
        """What `rag-app calibrate` found for it and the models in use; None for nothing."""
        return self._models.abstention(self._stores.connection().fingerprint())

    @property
    def questions_at_once(self) -> int:
        """How many questions to ask `answer` in parallel: on a cluster, two for each worker."""
        return self._answering.concurrency

    def check_position(
        self,
        request: AskRequest,
        *,
        usual: Answer | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> PositionCheck:
        """Whether an answer stays the same with its evidence in other orders, Ms-PoE on and off.

        Do not ask this corpus anything else meanwhile.

        Args:
            request: What to answer.
            usual: The answer, if you have it already; otherwise it is made first.
            progress: Called with the number of variants done, and their total.
        """
        scope = self._scope
        return self._answering.check_position(request, scope, usual=usual, progress=progress)

    def documents(self, *, where: Filter | None = None) -> list[DocumentEntry]:
        """All documents, in the order in which they were added.

        Args:
            where: Limits by collection, document, path, date and participants.

        Raises:
            CollectionNotFound: The filter names a collection that does not exist.
        """
        return self._documents.all(where or Filter())

    def nothing_matches(self, where: Filter) -> str:
        """A message if no document has the dates and people of a filter; "" if one has."""
        return self._documents.nothing_matches(where)

    def document(self, name: str, *, where: Filter | None = None) -> Document:
        """A whole document with its text, by id, path or title.

        Args:
            name: Its name.
            where: Limits by collection.

        Raises:
            DocumentNotFound: The name fits no document, or several.
        """
        return self._documents.named(name, where)

    def overview(self, name: str, *, where: Filter | None = None) -> Overview:
        """A document's length, speakers, topics, decisions and actions, all quoted from it.

        Loads no model. Names and limits as in `document`.

        Raises:
            DocumentNotFound: The name fits no document, or several.
        """
        return self._documents.overview(name, where)

    def register(
        self,
        *,
        person: str = "",
        kind: CommitmentKind | Sequence[CommitmentKind] = (),
        state: State | Sequence[State] = (),
        where: Filter | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Register:
        """Decisions, actions and open questions of all meetings, as quotes, chained by matter.

        Loads no model, and reads every document that may be read.

        Args:
            person: Only what is to be done by somebody, by any part of their name; of decisions
                and questions, what they say.
            kind: Only matters of these kinds.
            state: Only matters of which this became.
            where: Only matters of which an admitted document says something. Collections also
                limit what is known of what became of them.
            progress: Called with documents read, and how many there are.

        Raises:
            InvalidRequest: A kind or a state is none.
            CollectionNotFound: The filter names a collection that does not exist.
        """
        from rag_app.register.reading import RegisterLimits

        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        states = (state,) if isinstance(state, str) else tuple(state)
        limits = RegisterLimits(person, kinds, states, where or Filter())
        return self._documents.register(limits, progress)

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
        return self._search.similar(name, k, where, self._scope)

    def info(self) -> CorpusInfo:
        """What the corpus holds and how it was made."""
        with self._stores.reading() as store:
            return corpus_info(self.folder, store, self._indexes)

    @property
    def exists(self) -> bool:
        """Whether there is a corpus in the folder."""
        return self._stores.exists

    @property
    def limits(self) -> FileLimits:
        """Limits on reading one file."""
        return self._limits

    @property
    def ocr(self) -> OcrSettings:
        """How pages that are pictures are read."""
        return self._ingestion.reader.ocr

    def figure(self, document: str, key: str, *, where: Filter | None = None) -> Figure:
        """A figure of a document with its data.

        Args:
            document: The document's id.
            key: The figure's.
            where: Limits by collection.

        Raises:
            DocumentNotFound: There is no such document, or it has no such figure.
        """
        return self._documents.figure(document, key, where)

    @property
    def generator_settings(self) -> GeneratorSettings:
        """How questions are answered."""
        return self._models.generator_settings

    def use_generator(self, settings: GeneratorSettings, *, key: str | None = None) -> None:
        """Answer in another way from the next question on.

        Args:
            settings: How to answer.
            key: The API key for the model's server; "" for none, None for the environment's.
        """
        self._models.use_generator(settings, key=key)

    # Direct access to the store

    @contextmanager
    def reading(self) -> Iterator[CorpusView]:
        """The whole corpus as it is now, whoever sees it, unaffected by what is written meanwhile.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        with self._stores.reading() as store:
            yield CorpusView(store, self._indexes.snapshot)

    def writing(self) -> AbstractContextManager[Store]:
        """The store, while no other process can write to it.

        Raises:
            CorpusLocked: Others are writing, for longer than this waits.
            CorpusError: The folder cannot be written to.
        """
        return self._stores.writing()


def _version() -> str:
    from importlib.metadata import version

    return version("rag-app")
