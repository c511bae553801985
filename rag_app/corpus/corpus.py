"""Corpus: a folder of indexed documents that can be searched, asked and changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from indexing.documents import Document
from indexing.encoder.settings import EncoderSettings
from indexing.filter import OWNER, Filter, Scope
from indexing.limits import FileLimits
from indexing.store.collections import DEFAULT
from indexing.store.database import Synchronous
from indexing.store.store import Store
from rag_app.corpus.contents.document_names import removable_documents
from rag_app.corpus.indexes import Indexes
from rag_app.corpus.ingestion import Ingestion
from rag_app.corpus.maintenance import CorpusMaintenance
from rag_app.corpus.models import Models
from rag_app.corpus.question_answering import QuestionAnswering
from rag_app.corpus.search import Search
from rag_app.corpus.shards.manifest import MissingShards
from rag_app.corpus.stores import Stores
from rag_app.corpus.write_lock import WAIT

if TYPE_CHECKING:
    from generator.settings import GeneratorSettings
    from indexing.encoder.encoder import Encoder
    from indexing.index_report import IndexReport, Progress
    from indexing.ocr.reading import OcrSettings
    from rag_app.corpus.cluster.workers import RayWorkers
    from rag_app.corpus.watching.standing_questions import StandingQuestions

DEFAULT_FOLDER = ".rag-app"


class Corpus(CorpusMaintenance):
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
        path = Path(place).resolve()
        self._limits = limits or FileLimits()
        stores = Stores(path, synchronous=synchronous, wait=wait, notify=notify)
        indexes = Indexes(path, stores, synchronous=synchronous, notify=notify)
        models = Models(
            path, encoder=encoder, generator=generator, quick_start=quick_start, notify=notify
        )
        search = Search(stores, indexes, models, missing_shards, path)
        answering = QuestionAnswering(stores, search, models, workers=workers, notify=notify)
        super().__init__(path, search, answering, OWNER)
        self._ingestion = Ingestion(
            stores, indexes, models, workers=workers, limits=self._limits, ocr=ocr
        )

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
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
        growing: Collection[Path] = (),
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
            growing: Files that are being written: of these only what comes at the end of what is
                known of them, in whole lines. Anything else about them waits for the next `add`.

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
            growing=growing,
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
        self._stores.connection()  # an absent corpus is an error, not an empty one
        with self._stores.writing() as store:
            limits = None if collection is None else Filter(collections=(collection,))
            entries = store.limited(limits, self._scope).entries()
            ids = dict.fromkeys(
                id_ for name in names for id_ in removable_documents(str(name), entries)
            )
            if collection is None:
                store.remove(ids)
            else:
                store.leave(ids, collection)
            self._indexes.refresh(store)
        return len(ids)

    def standing(
        self,
        *questions: str,
        collection: str | None = None,
        where: Filter | None = None,
        reader: Scope = OWNER,
        name: str = "",
    ) -> StandingQuestions:
        """Questions that are told of each place once, from when they are first asked.

        Args:
            questions: A subject ("the budget", "Tell me when the budget comes up") or a question.
            collection: Only of the documents in this one; None for all.
            where: Limits by collection and document instead.
            reader: What whoever is told may read.
            name: Under which what was told is remembered, apart from others who ask the same.

        Raises:
            InvalidRequest: A question is empty.
        """
        from rag_app.corpus.watching.standing_questions import StandingQuestions

        where = where or Filter(collections=() if collection is None else (collection,))
        kept = self.folder, self._stores, self._answering
        return StandingQuestions(*kept, questions, where, reader, name)

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

    @property
    def limits(self) -> FileLimits:
        """Limits on reading one file."""
        return self._limits

    @property
    def ocr(self) -> OcrSettings:
        """How pages that are pictures are read."""
        return self._ingestion.reader.ocr

    def use_generator(self, settings: GeneratorSettings, *, key: str | None = None) -> None:
        """Answer in another way from the next question on.

        Args:
            settings: How to answer.
            key: The API key for the model's server; "" for none, None for the environment's.
        """
        self._models.use_generator(settings, key=key)

    # Direct access to the store

    def writing(self) -> AbstractContextManager[Store]:
        """The store, while no other process can write to it.

        Raises:
            CorpusLocked: Others are writing, for longer than this waits.
            CorpusError: The folder cannot be written to.
        """
        return self._stores.writing()
