"""Standing questions: of what comes into a corpus, each place that concerns one, told once."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from generator.answer import Citation
from generator.evidence import Sentence, Span, evidence_sentences
from generator.request import AskRequest
from indexing.change_detection import DocumentIdentity
from indexing.documents import Document
from indexing.errors import CorpusError, InvalidRequest
from indexing.filter import Filter, Scope
from indexing.text.language import language_of
from rag_app.corpus.stores import Stores
from rag_app.requests.mentions import offsets_of
from rag_app.requests.standing import subject_of

if TYPE_CHECKING:
    from rag_app.corpus.question_answering import QuestionAnswering

STATE = ".standing.sqlite"  # hidden, so that indexing "." skips it
TAIL = 200  # characters before what is new, by which it is found again in an edited text
PIECE = 50  # of them at a time
STRETCH = 4_000  # characters that are read at once for a question
_TABLES = """
CREATE TABLE IF NOT EXISTS questions (question TEXT, scope TEXT, PRIMARY KEY (question, scope));
CREATE TABLE IF NOT EXISTS marks (question TEXT, scope TEXT, document TEXT, digest TEXT, read INT,
    tail TEXT, told INT, PRIMARY KEY (question, scope, document));
"""


@dataclass(frozen=True, slots=True)
class Told:
    """A new place that concerns a standing question."""

    question: str
    citation: Citation  # the sentence with its place


@dataclass(frozen=True, slots=True)
class _Mark:
    """How far a document has been looked through for a question."""

    digest: str  # of the document then
    read: int = 0  # how many characters it had
    tail: str = ""  # the last of them
    # first character of the last place that was told, -1 for none: the sentence there may have
    # grown since
    told: int = -1

    @classmethod
    def at_end(cls, digest: str, text: str, told: int = -1) -> _Mark:
        """All of a text."""
        return cls(digest, len(text), text[-TAIL:], told)

    def stands_in(self, text: str) -> bool:
        """Whether a text begins as the one that was looked through, as far as can be seen."""
        return text[: self.read].endswith(self.tail) and self.read <= len(text)

    def within(self, text: str) -> _Mark:
        """The same in a text that was edited since; its beginning where nothing is as before."""
        if self.stands_in(text):
            return self
        for end in range(len(self.tail), 0, -PIECE):
            piece = self.tail[max(0, end - PIECE) : end]
            at = text.rfind(piece) + len(piece)
            if at >= len(piece) and piece.strip():
                moved = at - (self.read - len(self.tail) + end)
                return replace(self, read=at, told=max(-1, self.told + moved))
        return replace(self, read=0, told=-1)


@dataclass
class StandingQuestions:
    """Questions that are told of each place once, from when they are first asked.

    A place is a sentence that mentions the subject, or that the answer to a question quotes. What
    has been told is kept in the folder of the corpus, so that it is not told again after a restart,
    nor when its document grows, is edited or moved.
    """

    folder: Path  # of the corpus
    stores: Stores  # its documents
    answering: QuestionAnswering  # what answers questions
    questions: Sequence[str]  # what is asked
    where: Filter  # limits by collection and document
    reader: Scope  # what whoever is told may read
    # under which it is remembered what has been told of these; "" for that of the collections, as
    # everybody shares it who asks the same of them
    name: str = ""
    _fresh: set[str] = field(default_factory=set)  # asked before there was a corpus
    _revision: object = None  # of the corpus that has been looked through

    def __post_init__(self) -> None:
        if not all(question.strip() for question in self.questions):
            raise InvalidRequest("a standing question is empty; ask something")

    def new(self) -> Generator[Told]:
        """The places that are new since the last time; none the first time.

        A place counts as told when the next one is asked for.

        Raises:
            CorpusError: What has been told cannot be read or written.
        """
        if not self.questions or not self.stores.exists:
            self._fresh.update(self.questions)  # all that comes is new
            return
        with self.stores.reading() as store:
            revision = store.revision
            names = {one.name for one in store.collections.all()}
        if revision == self._revision:
            return
        if not names.issuperset(self.where.collections):
            self._fresh.update(self.questions)
            return
        with self._state() as state:
            for question in dict.fromkeys(self.questions):
                yield from self._new(question, state)
        self._revision = revision

    def forget(self) -> None:
        """Remember no more what has been told: the next time, all that is there counts as known.

        Raises:
            CorpusError: What has been told cannot be read or written.
        """
        with self._state() as state, state:
            state.execute("DELETE FROM questions WHERE scope = ?", [self._scope])
            state.execute("DELETE FROM marks WHERE scope = ?", [self._scope])

    @property
    def _scope(self) -> str:
        return self.name or ", ".join(self.where.collections)

    def _new(self, question: str, state: sqlite3.Connection) -> Iterator[Told]:
        key = (question, self._scope)
        known = "SELECT 1 FROM questions WHERE (question, scope) = (?, ?)"
        if not state.execute(known, key).fetchall():
            with state:
                state.execute("BEGIN")
                if question not in self._fresh:
                    for id_, mark in self._all_read():
                        _put(state, (*key, id_), mark)
                state.execute("INSERT INTO questions VALUES (?, ?)", key)
        rows = state.execute(_MARKS, key)
        marks = {document: _Mark(*mark) for document, *mark in rows}
        with self.stores.reading() as store:
            every = store.limited(self.where, self.reader).identities()
        documents = self.where.documents
        every = [one for one in every if not documents or one.id in documents]
        changed = [
            one for one in every if one.id not in marks or marks[one.id].digest != one.digest
        ]
        for one in changed:
            document = self._document(one)
            if document is None:
                continue
            text = document.text
            mark = _mark_of(one.id, text, marks)
            told = mark.told
            for citation in self._places(question, document, mark):
                yield Told(question, citation)
                told = citation.start
                _put(state, (*key, one.id), _Mark.at_end("", text[: citation.end], told))
            _put(state, (*key, one.id), _Mark.at_end(one.digest, text, told))

    def _all_read(self) -> Iterator[tuple[str, _Mark]]:
        """Marks at the end of every document."""
        with self.stores.reading() as store:
            limited = store.limited(self.where, self.reader)
            for one, (_, text) in zip(limited.identities(), limited.texts(), strict=True):
                yield one.id, _Mark.at_end(one.digest, text)

    def _document(self, one: DocumentIdentity) -> Document | None:
        """A document; None where it has changed again, and is looked at next time, or is hidden."""
        with self.stores.reading() as store:
            seen = store.limited(self.where, self.reader).has(one.id)
            return store.document(one.id) if seen and store.digest(one.id) == one.digest else None

    def _places(self, question: str, document: Document, mark: _Mark) -> Iterator[Citation]:
        """The places after a mark, in the order of the text."""
        begin = _beginning(document, mark.read)
        sentences = [
            one
            for one in evidence_sentences([Span(document, begin, len(document.text), 0.0)])
            if one.end > mark.read and not one.start <= mark.told < one.end
        ]
        subject = subject_of(question)
        if subject:
            aliases = self.answering.search.aliases
            language = language_of(document.text)
            offsets = {
                at
                for phrase in aliases.variants(subject)
                for at in offsets_of(phrase, language, document)
            }
            for one in sentences:
                if any(one.start <= at < one.end for at in offsets):
                    yield one.cited()
            return
        for stretch in _stretches(sentences):
            request = AskRequest(question, mode="quote", read_as="question")
            start, end = stretch[0].start, stretch[-1].end
            answer = self.answering.quotes(request, document, start, end)
            starts = {one.start for one in stretch}
            yield from sorted(
                (one for one in answer if one.start in starts), key=lambda one: one.start
            )

    @contextmanager
    def _state(self) -> Iterator[sqlite3.Connection]:
        path = self.folder / STATE
        try:
            state = sqlite3.connect(path, timeout=60, isolation_level=None)
            try:
                state.executescript(_TABLES)
                yield state
            finally:
                state.close()
        except sqlite3.Error as error:
            reason = f"{path}: what has been told cannot be read or written ({error})"
            raise CorpusError(f"{reason}; make room, or remove it to begin again") from error


_MARKS = "SELECT document, digest, read, tail, told FROM marks WHERE (question, scope) = (?, ?)"
_PUT = "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?, ?, ?)"


def _put(state: sqlite3.Connection, key: tuple[str, str, str], mark: _Mark) -> None:
    state.execute(_PUT, (*key, mark.digest, mark.read, mark.tail, mark.told))


def _mark_of(id_: str, text: str, marks: dict[str, _Mark]) -> _Mark:
    """How far a text has been looked through, also under the name that its file had before."""
    own = marks.get(id_, _Mark(""))
    if own.read and own.stands_in(text):
        return own
    long = [one for one in marks.values() if len(one.tail) == TAIL and one.stands_in(text)]
    return max(long, key=lambda one: one.read, default=own.within(text))


def _beginning(document: Document, read: int) -> int:
    """Where the utterance or paragraph begins that text after the mark may belong to."""
    before = [one.start for one in document.utterances if one.start < read]
    return before[-1] if before else document.text.rfind("\n\n", 0, read) + 1


def _stretches(sentences: Sequence[Sentence]) -> Iterator[list[Sentence]]:
    """Neighbouring sentences, as many as are read at once."""
    stretch: list[Sentence] = []
    for one in sentences:
        if stretch and one.end - stretch[0].start > STRETCH:
            yield stretch
            stretch = []
        stretch.append(one)
    if stretch:
        yield stretch
