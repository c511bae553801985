"""A corpus that is read: searched, asked, and listed, as whoever reads it may."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from generator.request import AskRequest
from indexing.documents import Document, Figure, Hit
from indexing.filter import Filter, Scope
from indexing.store.view import DocumentEntry
from rag_app.corpus.contents.aliases import CorpusAliases, in_any_spelling
from rag_app.corpus.contents.collections import CorpusCollections
from rag_app.corpus.contents.document_names import document_named
from rag_app.corpus.contents.entries import admitted, gone
from rag_app.corpus.contents.info import CorpusInfo, corpus_info
from rag_app.corpus.contents.speakers import CorpusSpeakers
from rag_app.corpus.question_answering import QuestionAnswering
from rag_app.corpus.search import Search
from rag_app.corpus.shards.parts import CorpusView
from rag_app.request_fields import (
    AskOptions,
    EveryOptions,
    SearchOptions,
    ask_request,
    every_request,
    search_request,
    spelled_out,
)

if TYPE_CHECKING:
    from generator.answer import Answer, Event
    from generator.evidence import Evidence, Sentence
    from generator.extractive.conformal import AbstentionRecord
    from generator.instances.instances import Instances
    from generator.overview.commitments import CommitmentKind
    from generator.overview.overview import Overview
    from generator.position_check import PositionCheck
    from generator.register.entry import Register, State
    from generator.settings import GeneratorSettings
    from rag_app.corpus.shards.missing import PartialHits
    from retriever.retriever import Retriever
    from retriever.similar_documents import SimilarDocument


class CorpusReader:
    """What may be read of a corpus; it changes nothing but collections and names of speakers.

    A `Corpus` is one of everything. `seen_by` makes one of what somebody may read.

    Args:
        folder: The folder of the corpus.
        search: What finds documents.
        answering: What answers questions.
        scope: What is there to be read.
    """

    def __init__(
        self, folder: Path, search: Search, answering: QuestionAnswering, scope: Scope
    ) -> None:
        self.folder, self._scope = folder, scope
        self._search, self._answering = search, answering
        self._stores, self._indexes, self._models = search.stores, search.indexes, search.models

    def seen_by(self, scope: Scope) -> CorpusReader:
        """The same corpus, in which only what somebody may read is there to be read.

        It shares all with this one, and is closed with it. `Access` says what somebody may change.
        """
        other = CorpusReader(self.folder, self._search, self._answering, scope)
        return self if scope == self._scope else other

    @property
    def scope(self) -> Scope:
        """What is there to be read: everything, unless it was made by `seen_by`."""
        return self._scope

    @property
    def exists(self) -> bool:
        """Whether there is a corpus in the folder."""
        return self._stores.exists

    @property
    def revision(self) -> str:
        """Changes with every change of documents or collections; "" if there is no corpus.

        Compare it only with other revisions. It is cheap enough to be read every second.
        """
        return self._stores.connection().revision if self.exists else ""

    # Questions

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
        """As `search`; with `missing_shards="answer"`, without lost shards, which are listed."""
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

    def evidence(self, request: AskRequest) -> Evidence:
        """What the answer to a request may rest on, as the documents are now; errors likewise."""
        return self._answering.evidence(request, self._scope)

    def check_position(
        self,
        request: AskRequest,
        *,
        usual: Answer | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> PositionCheck:
        """Whether an answer stays the same in other orders of evidence, Ms-PoE on and off.

        Args:
            request: What to answer.
            usual: The answer, if you have it already; otherwise it is made first.
            progress: Called with the number of variants done, and their total.
        """
        return self._answering.check_position(request, self._scope, usual=usual, progress=progress)

    def documents(self, *, where: Filter | None = None) -> list[DocumentEntry]:
        """All documents, in the order in which they were added.

        Args:
            where: Limits by collection, document, path, date and participants.

        Raises:
            CollectionNotFound: The filter names a collection that does not exist.
        """
        where = where or Filter()
        with self._stores.reading() as store:
            return admitted(store.limited(where, self._scope), where)

    def nothing_matches(self, where: Filter) -> str:
        """A message if no document has the path, speaker, dates and people of a filter; else ""."""
        from rag_app.requests.naming.stored_catalogue import StoredCatalogue

        if aliases := self._search.aliases:
            where = in_any_spelling(where, aliases)
        with self._stores.reading() as store:
            return StoredCatalogue(store.limited(where, self._scope)).nothing_within(where)

    def document(self, name: str, *, where: Filter | None = None) -> Document:
        """A whole document with its text, by id, path or title.

        Args:
            name: Its name.
            where: Limits by collection.

        Raises:
            DocumentNotFound: The name fits no document, or several.
        """
        with self._stores.reading() as store:
            limited = store.limited(where, self._scope)
            return limited.document(document_named(name, limited))

    def overview(self, name: str, *, where: Filter | None = None) -> Overview:
        """A document's length, speakers, topics, decisions and actions, all quoted from it.

        Loads no model. Names and limits as in `document`.

        Raises:
            DocumentNotFound: The name fits no document, or several.
        """
        from generator.overview.overview import overview

        with self._stores.reading() as store:
            limited = store.limited(where, self._scope)
            id_ = document_named(name, limited)
            document, passages = limited.document(id_), store.passages_of(id_)
            vectors = store.passage_vectors_of(id_)
        return overview(document, passages, vectors)

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
        from rag_app.register.reading import RegisterLimits, register_of

        kinds = (kind,) if isinstance(kind, str) else tuple(kind)
        states = (state,) if isinstance(state, str) else tuple(state)
        limits = RegisterLimits(person, kinds, states, where or Filter())
        with self._stores.reading() as store:
            seen = store.limited(limits.where, self._scope)
            return register_of(seen, limits, progress=progress)

    @spelled_out(EveryOptions)
    def every(
        self,
        question: str,
        progress: Callable[[int, int], None] | None = None,
        **options: Unpack[EveryOptions],
    ) -> Instances:
        """A page of all places that say what is asked for, and how many there probably are.

        Args:
            question: A question, or such as "every time the budget was discussed".
            progress: Called with passages read, and how many there are.
            options: The fields `start` and `page`, and limits; errors as of `search`.
        """
        return self._answering.every(every_request(question, options), self._scope, progress)

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

    def missing(self, *, where: Filter | None = None) -> list[DocumentEntry]:
        """Documents whose file no longer exists, in any collection that holds them, of some."""
        with self._stores.reading() as store:
            return gone(store.limited(where, self._scope))

    def figure(self, document: str, key: str, *, where: Filter | None = None) -> Figure:
        """A figure of a document with its data.

        Args:
            document: The document's id.
            key: The figure's.
            where: Limits by collection.

        Raises:
            DocumentNotFound: There is no such document, or it has no such figure.
        """
        with self._stores.reading() as store:
            limited = store.limited(where, self._scope)
            data = limited.pictures.figure(document, key)
            figures = limited.document(document).figures
        return replace(next(one for one in figures if one.key == key), data=data)

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
    def generator_settings(self) -> GeneratorSettings:
        """How questions are answered."""
        return self._models.generator_settings

    @contextmanager
    def reading(self) -> Iterator[CorpusView]:
        """The whole corpus as it is now, whoever sees it, unaffected by what is written meanwhile.

        Raises:
            CorpusNotFound: There is no corpus in the folder.
        """
        with self._stores.reading() as store:
            yield CorpusView(store, self._indexes.snapshot)
