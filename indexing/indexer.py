"""What changed on disk, encode it, commit it: one document, one transaction.

A run that is killed has committed every document before the one in hand; the next run skips what is
there and goes on. A file that cannot be read is reported and leaves what was known of it in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from indexing.change_detection import Catalogue, Change, Plan, Step, holding
from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.files import MAX_BYTES, Failure, nothing_in, read, walk
from indexing.store.store import FileState, Store
from indexing.text.chunking import split

CHARACTERS_PER_TOKEN = 4  # about, for progress within a document


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run has come.

    Attributes:
        done: Bytes of files dealt with.
        total: Bytes of all files.
        tokens: Tokens encoded so far.
        path: The file in hand.
    """

    done: float
    total: float
    tokens: int
    path: str


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What a run did.

    Attributes:
        added: Ids of new documents.
        updated: Ids of documents whose content had changed.
        unchanged: How many documents were up to date.
        moved: Ids of documents whose file or title is another now.
        removed: Ids of documents that a file no longer holds.
        duplicates: Files whose content is in the corpus already, and why they were left out.
        failures: Files that gave no document, with reason and remedy.
        unread: What files hold beside the text that was read, such as scanned pages.
        skipped: Files of other kinds in the folders, by suffix.
        tokens: Tokens encoded.
    """

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: int = 0
    moved: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    duplicates: tuple[Failure, ...] = ()
    failures: tuple[Failure, ...] = ()
    unread: tuple[Failure, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    tokens: int = 0


@dataclass(slots=True)
class _Tally:
    """An IndexReport in the making."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: int = 0
    moved: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    duplicates: list[Failure] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    unread: list[Failure] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    done: float = 0
    total: float = 0

    def report(self) -> IndexReport:
        return IndexReport(
            tuple(self.added),
            tuple(self.updated),
            self.unchanged,
            tuple(self.moved),
            tuple(self.removed),
            tuple(self.duplicates),
            tuple(self.failures),
            tuple(self.unread),
            dict(self.skipped),
            self.tokens,
        )


@dataclass(frozen=True, slots=True)
class _File:
    """A file of a run: its real path, and its state when the run began."""

    real: Path
    state: FileState

    @property
    def path(self) -> str:
        """The path as documents spell it."""
        return self.real.as_posix()


@dataclass(slots=True)
class Indexer:
    """Brings a store up to date with files.

    Attributes:
        store: Where documents go; its fingerprint is the encoder's.
        encoder: Gives what makes the vectors; called for each document that is encoded, so that a
            run that finds nothing new loads no model.
        progress: Called as the work goes on.
        max_bytes: Larger files are reported instead of read.
    """

    store: Store
    encoder: Callable[[], Encoder]
    progress: Callable[[Progress], None] | None = None
    max_bytes: int = MAX_BYTES
    _tally: _Tally = field(default_factory=_Tally)
    _catalogue: Catalogue = field(default_factory=Catalogue)
    _waiting: set[str] = field(default_factory=set)
    _named: set[Path] = field(default_factory=set)
    _passed_over: set[Path] = field(default_factory=set)
    _path: str = ""

    def add(self, paths: Sequence[Path]) -> IndexReport:
        """Add or update files and folders."""
        self._begin()
        self._named = {path.resolve() for path in paths if path.is_file()}
        files = list(self._files(paths))
        self._tally.total = sum(file.state.size for file in files)
        changed = [file for file in files if not self._unchanged(file)]
        self._waiting = {file.path for file in changed}
        postponed = [file for file in changed if not self._update(file, final=False)]
        for file in postponed:
            self._update(file, final=True)
        self._tally.failures += self._barren(paths, [file.real for file in files])
        return self._tally.report()

    def add_documents(self, documents: Iterable[Document]) -> IndexReport:
        """Add or update documents that are no files."""
        self._begin()
        for document in documents:
            held = [one for one in self._catalogue.at(document.path) if one.part == document.part]
            self._carry_out(self._catalogue.plan([document], held, gone=_gone), size=0)
        return self._tally.report()

    def _begin(self) -> None:
        self._tally = _Tally()
        self._catalogue = Catalogue.of(self.store.held())
        self._passed_over = set()

    def _files(self, paths: Sequence[Path]) -> Iterator[_File]:
        """The files to look at; what cannot be reached is noted as a failure."""
        for found in walk(paths, skipped=self._tally.skipped):
            if isinstance(found, Failure):
                self._tally.failures.append(found)
                continue
            try:
                stat = found.stat()
            except OSError as error:
                reason = error.strerror or "cannot be read"
                failure = Failure(str(found), reason, "check that it still exists and may be read")
                self._tally.failures.append(failure)
            else:
                yield _File(found, FileState(stat.st_size, stat.st_mtime_ns))

    def _unchanged(self, file: _File) -> bool:
        """Whether a file is as it was when it was last read whole, and its documents are here."""
        known = self._catalogue.at(file.path)
        if not known or self.store.file_state(file.path) != file.state:
            return False
        self._tally.unchanged += len(known)
        self._advance(file.state.size)
        return True

    def _update(self, file: _File, *, final: bool) -> bool:
        """Bring the store up to date with one file.

        False, and nothing done, when a document is a copy of one from a file that is yet to be
        read: only then is it known which of the two stays. A final call does not wait.
        """
        self._path = file.path
        held = self._catalogue.at(file.path)
        documents, failures, unread = _sorted_out(read(file.real, max_bytes=self.max_bytes))
        walked_into = file.real not in self._named and not held
        if walked_into and not documents and all(one.other_kind for one in failures):
            self._pass_over(file)
            return True
        outdated = self._waiting - {file.path}
        plan = self._catalogue.plan(documents, held, gone=_gone, outdated=outdated if final else ())
        if not final and plan.copied() & outdated:
            return False
        self._waiting.discard(file.path)
        self._tally.failures += failures
        self._tally.unread += unread
        self._carry_out(replace(plan, left=()) if failures else plan, size=file.state.size)
        if not failures:
            self.store.remember_file(file.path, file.state)
        return True

    def _pass_over(self, file: _File) -> None:
        """Count a file that a walk came upon and that is of another kind, in spite of its name."""
        self._waiting.discard(file.path)
        self._passed_over.add(file.real)
        self._tally.skipped[file.real.suffix.lower()] += 1
        self._advance(file.state.size)

    def _barren(self, paths: Sequence[Path], files: Sequence[Path]) -> Iterator[Failure]:
        """Folders in which every file turned out to be of another kind."""
        for folder in (path for path in paths if path.is_dir()):
            inside = [file for file in files if file.is_relative_to(folder.resolve())]
            if inside and self._passed_over.issuperset(inside):
                what = f"{len(inside)} with a known ending and another content"
                yield nothing_in(folder, what)

    def _carry_out(self, plan: Plan, *, size: int) -> None:
        """Do what a plan says, and drop what is left; `size` is that of the file in bytes."""
        end = self._tally.done + size
        length = sum(len(step.document.text) for step in plan.steps)
        for step in plan.steps:
            self._do(step, share=size * len(step.document.text) / length)
        if plan.left:
            self.store.remove(one.id for one in plan.left)
            self._tally.removed += [one.id for one in plan.left]
            for one in plan.left:
                self._catalogue.drop(one.id)
        self._advance(end - self._tally.done)

    def _do(self, step: Step, *, share: float) -> None:
        document, held = step.document, step.held
        if step.change is Change.ADD:
            id_ = self._catalogue.unused(document.id)
            self._encode(replace(document, id=id_), share)
            self._tally.added.append(id_)
            return
        assert held is not None
        if step.change is Change.UPDATE:
            self._encode(replace(document, id=held.id), share)
            self._tally.updated.append(held.id)
            return
        if step.change is Change.NOTHING:
            self._tally.unchanged += 1
        elif step.change is Change.COPY:
            self._tally.duplicates.append(_duplicate(document, held.path))
        else:
            moved = holding(document, held.id)
            self.store.move(moved)
            self._catalogue.enter(moved)
            self._tally.moved.append(held.id)
        self._advance(share)

    def _encode(self, document: Document, share: float) -> None:
        """Encode and commit; `share` is what the document stands for, in bytes."""
        before, characters = self._tally.done, 0

        def encoded(tokens: int) -> None:
            nonlocal characters
            characters += tokens * CHARACTERS_PER_TOKEN
            self._tally.tokens += tokens
            self._tally.done = before + share * min(characters / len(document.text), 1)
            self._advance(0)

        passages = split(document)
        (vectors,) = self.encoder().encode([(document, passages)], progress=encoded)
        self.store.put(document, passages, vectors, added=_now())
        self._catalogue.enter(holding(document, document.id))
        self._tally.done = before
        self._advance(share)

    def _advance(self, amount: float) -> None:
        self._tally.done += amount
        if self.progress:
            tally = self._tally
            self.progress(Progress(tally.done, tally.total, tally.tokens, self._path))


def reencode(
    store: Store, encoder: Encoder, *, progress: Callable[[Progress], None] | None = None
) -> int:
    """Give every document vectors of another fingerprint; how many were encoded in this run.

    The corpus keeps its old vectors until the last new one is there. A killed run goes on later.
    """
    waiting = store.not_reencoded(encoder.fingerprint)
    tokens = 0
    for done, id_ in enumerate(waiting, 1):
        document = store.document(id_)
        (encoded,) = encoder.encode([(document, store.passages_of(id_))])
        store.put_reencoded(id_, encoded, encoder.fingerprint)
        tokens += encoded.encoded
        if progress:
            progress(Progress(done, len(waiting), tokens, document.path))
    store.adopt(encoder.fingerprint)
    return len(waiting)


def _sorted_out(
    found: Iterable[Document | Failure],
) -> tuple[list[Document], list[Failure], list[Failure]]:
    """What can be indexed, what cannot (text without a word among it), what is beside the text."""
    documents: list[Document] = []
    failures: list[Failure] = []
    unread: list[Failure] = []
    for one in found:
        if isinstance(one, Failure):
            (unread if one.beside_text else failures).append(one)
        elif any(character.isalnum() for character in one.text):
            documents.append(one)
        else:
            failures.append(Failure(_name(one), "holds no letter and no digit", "remove it"))
    return documents, failures, unread


def _gone(path: str) -> bool:
    """Whether a file is no longer where it was; what never was a file is not."""
    return Path(path).is_absolute() and not Path(path).exists()


def _duplicate(document: Document, path: str) -> Failure:
    return Failure(
        _name(document),
        f"same content as {path}, which is in the corpus",
        "nothing to do; remove one of the two if it is there by mistake",
    )


def _name(document: Document) -> str:
    return f"{document.path} ({document.part})" if document.part else document.path


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
