"""Find what changed on disk, encode it, commit it: one document, one transaction.

A run that is killed has committed every document before the current one; the next run skips these
and resumes. A file that cannot be read is reported, and what was known of it stays in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from indexing.change_detection import Change, KnownDocuments, Plan, Step, identify
from indexing.documents import Document, renamed
from indexing.encoder.lookahead import DocumentEncoder, Lookahead, take_ahead
from indexing.errors import WorkersLost
from indexing.files import FileReader
from indexing.index_report import IndexReport, Progress, ReportDraft
from indexing.message import N_
from indexing.source_files import (
    FileContent,
    SourceFile,
    document_name,
    folders_of_other_kinds,
    is_another,
    read_content,
)
from indexing.store.collections import DEFAULT
from indexing.store.file_states import FileState
from indexing.store.store import Store
from indexing.text.chunking import split
from indexing.walk import Failure, is_gone, resolved, shown, walk

Item = TypeVar("Item")

CHARACTERS_PER_TOKEN = 4  # about, for progress within a document


@dataclass(slots=True)
class Indexer:
    """Brings a store up to date with files."""

    store: Store  # where documents go; its fingerprint is the encoder's
    # returns the encoder; called for each document that is encoded, so that a run that finds
    # nothing new loads no model
    encoder: Callable[[], DocumentEncoder]
    progress: Callable[[Progress], None] | None = None  # called as the work goes on
    reader: FileReader = field(default_factory=FileReader)  # reads the files
    # read files again whose size and time are those of the last run: an edit may have kept both;
    # what they hold decides
    recheck: bool = False
    collection: str = DEFAULT  # where documents go; it is made with the first
    # as `encoder`, if several workers encode and are told of documents ahead; None if documents are
    # encoded one after another
    ahead: Callable[[], Lookahead] | None = None
    _lookahead: Lookahead | None = None  # once there is something to encode
    _draft: ReportDraft = field(default_factory=ReportDraft)
    _known: KnownDocuments = field(default_factory=KnownDocuments)
    _pending: set[str] = field(default_factory=set)
    _named_files: set[Path] = field(default_factory=set)
    _other_kinds: set[Path] = field(default_factory=set)
    _growing: Collection[Path] = ()
    _path: str = ""
    _readings: tuple[str, ...] = ()  # of pictures, by key, that the file's text is from

    def add(
        self,
        paths: Sequence[Path],
        *,
        among: Collection[Path] | None = None,
        growing: Collection[Path] = (),
    ) -> IndexReport:
        """Add or update files and folders; `among` and `growing` as in `Corpus.add`."""
        self._reset()
        self._growing = frozenset(growing)
        self._named_files = {real for path in paths if isinstance(real := resolved(path), Path)}
        files = list(self._files(paths))
        if among is not None:
            self._keep(files, frozenset(among))
        self._draft.total = sum(file.state.size for file in files)
        changed = self._changed(files)
        self._pending = {file.path for file in changed}
        contents = self._ahead(map(self._read, changed), self._expect_content)
        deferred = [one.file for one in contents if not self._update(one, final=False)]
        for file in deferred:
            self._update(self._read(file), final=True)
        if among is None:
            whole = [file.real for file in files]
            self._draft.failures += folders_of_other_kinds(paths, whole, self._other_kinds)
        return self._draft.report()

    def add_documents(self, documents: Iterable[Document]) -> IndexReport:
        """Add or update documents that are no files."""
        self._reset()
        for document in self._ahead(documents, self._expect_document):
            self._apply(self._plan_document(document), size=0)
            self._forget([document])
        return self._draft.report()

    def _plan_document(self, document: Document) -> Plan:
        """What to do with a document that is no file."""
        existing = [one for one in self._known.at_path(document.path) if one.part == document.part]
        return self._known.plan([document], existing, is_gone=is_gone)

    def _reset(self) -> None:
        self._draft = ReportDraft()
        here = self.store.of(self.collection)
        self._known = KnownDocuments.of(here.identities(), self.store.identities())
        self._other_kinds = set()

    def _files(self, paths: Sequence[Path]) -> Iterator[SourceFile]:
        """The files to look at; what cannot be reached is noted as a failure."""
        for entry in walk(paths, skipped=self._draft.skipped, pictures=self.reader.ocr.is_named):
            if isinstance(entry, Failure):
                self._draft.failures.append(entry)
                continue
            try:
                stat = entry.stat()
            except OSError as error:
                if isinstance(error, FileNotFoundError) and entry not in self._named_files:
                    continue  # it has gone since its folder was listed
                reason = error.strerror or "cannot be read"
                failure = Failure(str(entry), reason, "check that it still exists and may be read")
                self._draft.failures.append(failure)
            else:
                state = FileState(stat.st_size, stat.st_mtime_ns)
                yield SourceFile(entry, state, entry in self._growing)

    def _keep(self, files: list[SourceFile], among: Collection[Path]) -> None:
        """Of the files found, and of what could not be reached, keep those of these paths."""
        files[:] = [file for file in files if file.real in among]
        names = {shown(path) for path in among}
        self._draft.failures = [each for each in self._draft.failures if each.path in names]
        self._draft.skipped.clear()

    def _changed(self, files: Sequence[SourceFile]) -> list[SourceFile]:
        """The files that are not as they were when last read whole, or whose documents are gone.

        The states of all files are read at once: a query a file takes longer than looking at it.
        """
        if self.recheck:
            return [*files]
        states = self.store.files.states(collection=self.collection)
        changed: list[SourceFile] = []
        unchanged = 0  # bytes
        for file in files:
            known = len(self._known.at_path(file.path))
            if known and states.get(file.path) == file.state:
                self._draft.unchanged += known
                unchanged += file.state.size
            else:
                changed.append(file)
        if unchanged:
            self._advance(unchanged)
        return changed

    def _read(self, file: SourceFile) -> FileContent:
        return read_content(
            self.reader,
            file,
            self.store.pictures.readings(),
            report_picture=lambda *which: self._report_picture(file, *which),
        )

    def _update(self, content: FileContent, *, final: bool) -> bool:
        """Bring the store up to date with one file.

        False, and nothing done, when a document is a copy of one from a file that is yet to be
        read: only then is it known which of the two stays. A final call does not wait.
        """
        file = content.file
        self._path = file.path
        existing = self._known.at_path(file.path)
        discovered = file.real not in self._named_files and not existing
        failures = content.failures
        if file.growing:
            before = {one.part: self.store.document(one.id).text for one in existing}
            if not content.goes_on(before):
                return True
        if discovered and not content.documents and all(one.other_kind for one in failures):
            self._skip_other_kind(file)
            return True
        pending = self._pending - {file.path}

        def outdated(path: str) -> bool:
            if path in pending:
                return final
            return is_another(path, self.store.files.state(path, collection=self.collection))

        plan = self._known.plan(content.documents, existing, is_gone=is_gone, outdated=outdated)
        if not final and plan.copied_paths() & pending:
            return False
        self._pending.discard(file.path)
        self._draft.failures += failures
        self._draft.unread += content.unread
        read = [one.recognised for one in content.documents if one.recognised]
        if read:
            self._draft.recognised[file.path] = "; ".join(read)
        self._readings = content.readings
        try:
            self._apply(replace(plan, removed=()) if failures else plan, size=file.state.size)
        except WorkersLost as error:
            lost = Failure(file.path, error.reason, error.remedy)
            self._draft.failures.append(lost)
            failures = (*failures, lost)
        self._readings = ()
        self._forget(content.documents)
        if not failures and not file.growing:
            self.store.files.remember(file.path, file.state, collection=self.collection)
        return True

    def _ahead(self, items: Iterable[Item], expect: Callable[[Item], None]) -> Iterator[Item]:
        """The items in order; where workers encode, some are announced to them ahead."""
        if self.ahead is None:
            return iter(items)
        return take_ahead(
            items, expect, has_room=lambda: bool(self._lookahead and self._lookahead.has_room)
        )

    def _expect_content(self, content: FileContent) -> None:
        existing = self._known.at_path(content.file.path)
        self._expect(self._known.plan(content.documents, existing, is_gone=is_gone))

    def _expect_document(self, document: Document) -> None:
        self._expect(self._plan_document(document))

    def _expect(self, plan: Plan) -> None:
        """Let workers begin with what will have to be encoded, as far as it is known by now."""
        assert self.ahead is not None
        for step in plan.steps:
            if step.change in {Change.ADD, Change.UPDATE}:
                self._lookahead = self._lookahead or self.ahead()
                self._lookahead.expect(step.document, split(step.document))

    def _forget(self, documents: Iterable[Document]) -> None:
        """Let go of what was expected of documents that are done."""
        if self._lookahead is not None:
            for document in documents:
                self._lookahead.forget(document)

    def _skip_other_kind(self, file: SourceFile) -> None:
        """Count a file in a folder that is of another kind than its name says."""
        self._pending.discard(file.path)
        self._other_kinds.add(file.real)
        self._draft.skipped[file.real.suffix.lower()] += 1
        self._advance(file.state.size)

    def _apply(self, plan: Plan, *, size: int) -> None:
        """Do what a plan says, and remove what the file holds no more; `size` is in bytes."""
        end = self._draft.done + size
        length = sum(len(step.document.text) for step in plan.steps)
        for step in plan.steps:
            self._apply_step(step, share=size * len(step.document.text) / length)
        if plan.removed:
            self._draft.removed += [one.id for one in plan.removed]
            self._leave(*(one.id for one in plan.removed))
        self._advance(end - self._draft.done)

    def _apply_step(self, step: Step, *, share: float) -> None:
        id_ = self._applied(step, share=share)
        if step.change is not Change.COPY:
            self.store.pictures.put(id_, step.document.figures, self._readings)

    def _applied(self, step: Step, *, share: float) -> str:
        """Do a step; the id that its document has."""
        document, existing = step.document, step.existing
        if step.change is Change.ADD:
            id_ = self._known.unused_id(document.id)
            self._encode(replace(document, id=id_), share)
            self._draft.added.append(id_)
            return id_
        assert existing is not None
        grown = False
        is_own = step.change is Change.UPDATE or (
            step.change in {Change.RELABEL, Change.MOVE}
            and document.occasion != existing.occasion
            and self._is_held_elsewhere(existing.id)
        )  # of this collection alone, whatever others hold
        if is_own:  # names that people gave are for the labels that stay
            old = self.store.document(existing.id)
            grown = document.text.startswith(old.text.rstrip())
            document = replace(document, utterances=renamed(document.utterances, old.speaker_names))
        if is_own and self._is_held_elsewhere(existing.id):
            id_ = self._known.unused_id(document.id)  # the others keep what they hold
            self._encode(replace(document, id=id_), share)
            self._leave(existing.id)
            self._draft.updated.append(id_)
            return id_
        if step.change is Change.UPDATE:
            self._encode(replace(document, id=existing.id), share, grown=grown)
            self._draft.updated.append(existing.id)
            return existing.id
        if step.change is Change.NOTHING:
            self._draft.unchanged += 1
        elif step.change is Change.COPY:
            self._draft.duplicates.append(_duplicate(document, existing.path))
        elif step.change is Change.JOIN:
            self.store.join(existing, self.collection)
            self._known.put(existing)
            self._draft.added.append(existing.id)
            self._draft.reused.append(existing.id)
        else:
            moved = identify(document, existing.id)
            self.store.move(moved, collection=self.collection)
            self._known.put(moved)
            self._draft.moved.append(existing.id)
        self._advance(share)
        return existing.id

    def _is_held_elsewhere(self, id_: str) -> bool:
        return len(self.store.collections.memberships_of(id_)) > 1

    def _leave(self, *ids: str) -> None:
        """Take documents out of the collection; what no other holds is removed."""
        removed = self.store.leave(ids, self.collection)
        for id_ in ids:
            (self._known.discard if id_ in removed else self._known.leave)(id_)

    def _encode(self, document: Document, share: float, *, grown: bool = False) -> None:
        """Encode and commit; `share` is what the document stands for, in bytes."""
        before, characters = self._draft.done, 0

        def report_tokens(tokens: int) -> None:
            nonlocal characters
            characters += tokens * CHARACTERS_PER_TOKEN
            self._draft.tokens += tokens
            self._draft.done = before + share * min(characters / len(document.text), 1)
            self._advance(0)

        passages = split(document)
        (vectors,) = self.encoder().encode([(document, passages)], progress=report_tokens)
        now, here = _now(), self.collection
        self.store.put(document, passages, vectors, added=now, collection=here, grown=grown)
        self._known.put(identify(document, document.id))
        self._draft.done = before
        self._advance(share)

    def _report_picture(self, file: SourceFile, picture: int, pictures: int) -> None:
        self._path = file.path
        if self.progress:
            draft = self._draft
            done, total, tokens = draft.done, draft.total, draft.tokens
            self.progress(
                Progress(done, total, tokens, self._path, picture, pictures, self._workers)
            )

    def _advance(self, amount: float) -> None:
        self._draft.done += amount
        if self.progress:
            done, total, tokens = self._draft.done, self._draft.total, self._draft.tokens
            self.progress(Progress(done, total, tokens, self._path, workers=self._workers))

    @property
    def _workers(self) -> int:
        return self._lookahead.workers() if self._lookahead else 0


def nothing_to_read(paths: Sequence[Path], *, pictures: bool = False) -> IndexReport | None:
    """The report of paths under which there is no file to read; None when there is one.

    None also when no path is given: who asks for an empty corpus gets one.
    """
    skipped: Counter[str] = Counter()
    failures: list[Failure] = []
    for entry in walk(paths, skipped=skipped, pictures=pictures):
        if not isinstance(entry, Failure):
            return None
        failures.append(entry)
    return IndexReport(failures=tuple(failures), skipped=dict(skipped)) if failures else None


def _duplicate(document: Document, path: str) -> Failure:
    return Failure(
        document_name(document),
        N_("same content as %(path)s, which is in the corpus", path=path),
        N_("nothing to do; remove one of the two if it is there by mistake"),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
