"""What changed on disk, encode it, commit it: one document, one transaction.

A run that is killed has committed every document before the one in hand; the next run skips what is
there and goes on. A file that cannot be read is reported and leaves what was known of it in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from indexing.documents import Document, Passage
from indexing.encoder import TOKENS_PER_BATCH, Encoder
from indexing.loading import MAX_BYTES, Failure, nothing_in, read, walk
from indexing.passages import split
from indexing.store import FileState, Store

CHARACTERS_PER_TOKEN = 4  # about, for filling a batch before the tokens are counted


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
        moved: Ids of documents whose file lies elsewhere now.
        removed: Ids of documents that a file no longer holds.
        duplicates: Files whose content is in the corpus already, and why they were left out.
        failures: Files that gave no document, with reason and remedy.
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
            dict(self.skipped),
            self.tokens,
        )


@dataclass(frozen=True, slots=True)
class _Pending:
    """A document that waits for its batch to fill."""

    document: Document
    passages: list[Passage]
    share: float  # bytes of its file that it stands for


@dataclass(frozen=True, slots=True)
class _ReadWhole:
    """A file all of whose documents are committed or waiting, and what it no longer holds."""

    path: str
    state: FileState
    gone: list[str]


@dataclass(slots=True)
class Indexer:
    """Brings a store up to date with files.

    Attributes:
        store: Where documents go; its recipe is the encoder's.
        encoder: Makes the vectors.
        progress: Called as the work goes on.
        max_bytes: Larger files are reported instead of read.
    """

    store: Store
    encoder: Encoder
    progress: Callable[[Progress], None] | None = None
    max_bytes: int = MAX_BYTES
    _tally: _Tally = field(default_factory=_Tally)
    _pending: list[_Pending] = field(default_factory=list)
    _read_whole: list[_ReadWhole] = field(default_factory=list)
    _digests: dict[str, tuple[str, str]] = field(default_factory=dict)
    _named: set[Path] = field(default_factory=set)
    _passed_over: set[Path] = field(default_factory=set)
    _path: str = ""

    def add(self, paths: Sequence[Path]) -> IndexReport:
        """Add or update files and folders."""
        self._tally = tally = _Tally()
        self._digests = self.store.digests()
        self._named = {path.resolve() for path in paths if path.is_file()}
        self._passed_over = set()
        files: list[tuple[Path, FileState]] = []
        for found in walk(paths, skipped=tally.skipped):
            if isinstance(found, Failure):
                tally.failures.append(found)
            else:
                self._note(found, files)
        tally.total = sum(state.size for _, state in files)
        for file, state in files:
            self._add_file(file, state)
        self._flush()
        tally.failures += self._barren(paths, [file for file, _ in files])
        return tally.report()

    def add_documents(self, documents: Iterable[Document]) -> IndexReport:
        """Add or update documents that are no files."""
        self._tally = _Tally()
        self._digests = self.store.digests()
        for document in documents:
            self._take(document, 0.0)
        self._flush()
        return self._tally.report()

    def _note(self, file: Path, files: list[tuple[Path, FileState]]) -> None:
        try:
            stat = file.stat()
        except OSError as error:
            reason = error.strerror or "cannot be read"
            failure = Failure(str(file), reason, "check that it still exists and may be read")
            self._tally.failures.append(failure)
        else:
            files.append((file, FileState(stat.st_size, stat.st_mtime_ns)))

    def _add_file(self, file: Path, state: FileState) -> None:
        self._path = str(file)
        known = self.store.ids_at(str(file))
        if known and self.store.file_state(str(file)) == state:
            self._tally.unchanged += len(known)
            self._advance(state.size)
            return
        found = read(file, max_bytes=self.max_bytes)
        documents = [one for one in found if isinstance(one, Document)]
        failures = [one for one in found if isinstance(one, Failure)]
        walked_into = file not in self._named and not known
        if walked_into and not documents and all(one.other_kind for one in failures):
            self._pass_over(file, state)
            return
        self._tally.failures += failures
        length = sum(len(document.text) for document in documents)
        for document in documents:
            self._take(document, state.size * len(document.text) / length)
        if not documents:
            self._advance(state.size)
        if not failures:
            present = {document.id for document in documents}
            gone = [id_ for id_ in known if id_ not in present and id_ not in self._tally.moved]
            self._read_whole.append(_ReadWhole(str(file), state, gone))

    def _pass_over(self, file: Path, state: FileState) -> None:
        """Count a file that a walk came upon and that is of another kind, in spite of its name."""
        self._passed_over.add(file)
        self._tally.skipped[file.suffix.lower()] += 1
        self._advance(state.size)

    def _barren(self, paths: Sequence[Path], files: Sequence[Path]) -> Iterator[Failure]:
        """Folders in which every file turned out to be of another kind."""
        for folder in (path for path in paths if path.is_dir()):
            inside = [file for file in files if file.is_relative_to(folder.resolve())]
            if inside and self._passed_over.issuperset(inside):
                what = f"{len(inside)} with a known ending and another content"
                yield nothing_in(folder, what)

    def _settle(self) -> None:
        """Note the files whose documents are all committed, and drop what they hold no more."""
        for file in self._read_whole:
            if file.gone:
                self.store.remove(file.gone)
                self._tally.removed += file.gone
            self.store.remember_file(file.path, file.state)
        self._read_whole = []

    def _take(self, document: Document, share: float) -> None:
        """Queue a document unless its content is there already."""
        holder = self._digests.get(document.digest)
        if holder is not None and not self._outdated(*holder):
            self._advance(share)
            self._already(document, *holder)
            return
        self._digests[document.digest] = (document.id, document.path)
        self._pending.append(_Pending(document, split(document), share))
        waiting = sum(len(one.document.text) for one in self._pending)
        if waiting >= TOKENS_PER_BATCH * CHARACTERS_PER_TOKEN:
            self._flush()

    def _outdated(self, id_: str, path: str) -> bool:
        """Whether a document's file has changed since, so that its content is about to go."""
        if any(one.document.id == id_ for one in self._pending) or not Path(path).exists():
            return False
        stat = Path(path).stat()
        return self.store.file_state(path) != FileState(stat.st_size, stat.st_mtime_ns)

    def _already(self, document: Document, id_: str, path: str) -> None:
        if id_ == document.id:
            self._tally.unchanged += 1
        elif path != document.path and Path(path).is_absolute() and not Path(path).exists():
            self.store.move(id_, document.path)
            self._digests[document.digest] = (id_, document.path)
            self._tally.moved.append(id_)
        else:
            name = f"{document.path} ({document.part})" if document.part else document.path
            self._tally.duplicates.append(
                Failure(
                    name,
                    f"same content as {path}, which is in the corpus",
                    "nothing to do; remove one of the two if it is there by mistake",
                )
            )

    def _flush(self) -> None:
        """Encode what waits and commit it, document by document."""
        waiting, self._pending = self._pending, []
        if waiting:
            self._encode(waiting)
        self._settle()

    def _encode(self, waiting: list[_Pending]) -> None:
        characters = sum(len(one.document.text) for one in waiting)
        share = sum(one.share for one in waiting)
        before = self._tally.done

        def encoded(tokens: int) -> None:
            self._tally.tokens += tokens
            part = tokens * CHARACTERS_PER_TOKEN / max(characters, 1) * share
            self._tally.done = min(self._tally.done + part, before + share)
            self._advance(0)

        vectors = self.encoder.encode(
            [(one.document, one.passages) for one in waiting], progress=encoded
        )
        for one, encoding in zip(waiting, vectors, strict=True):
            old = self.store.digest(one.document.id)
            self.store.put(one.document, one.passages, encoding, added=_now())
            (self._tally.added if old is None else self._tally.updated).append(one.document.id)
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
    """Give every document vectors of another recipe; how many were encoded in this run.

    The corpus keeps its old vectors until the last new one is there. A killed run goes on later.
    """
    waiting = store.not_reencoded(encoder.recipe)
    tokens = 0
    for done, id_ in enumerate(waiting, 1):
        document = store.document(id_)
        (encoded,) = encoder.encode([(document, store.passages_of(id_))])
        store.put_reencoded(id_, encoded, encoder.recipe)
        tokens += encoded.encoded
        if progress:
            progress(Progress(done, len(waiting), tokens, document.path))
    store.adopt(encoder.recipe)
    return len(waiting)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
