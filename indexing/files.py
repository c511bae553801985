"""Files into documents. Nothing that a file holds can stop the files after it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from indexing.documents import Document, Extract, Occasion, content_digest
from indexing.errors import InvalidRequest, OtherKind, PartUnread, UnreadableFile
from indexing.limits import MIB, FileLimits
from indexing.loaders import LOADERS
from indexing.loaders.charset import clean, one_line, printable
from indexing.loaders.process import LoaderProcess, PageProgress, Readings
from indexing.message import N_
from indexing.ocr.reading import OcrSettings
from indexing.text import transcripts
from indexing.text.days.occasions import date_of_file, occasion_of
from indexing.walk import Failure, refusal, resolved, shown, unreachable

TITLE = 300  # characters of a title that are kept
GROWING = frozenset((".txt", ".md", ".markdown", ".vtt", ".srt", ".json", ".jsonl"))
"""Suffixes of transcripts that are read while they are written."""


class FileReader:
    """Reads files in a process of its own, which is kept from one to the next."""

    def __init__(self, limits: FileLimits | None = None, ocr: OcrSettings | None = None) -> None:
        self.limits = limits or FileLimits()
        self.ocr = ocr or OcrSettings()
        self._process = LoaderProcess(self.limits, self.ocr)

    def __enter__(self) -> FileReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process; reading another file starts one again."""
        self._process.close()

    def read(
        self,
        path: Path,  # the file
        *,
        readings: Readings | None = None,  # what is kept of pictures, so that none is read twice
        # called with the number of a picture in the file, and how many it has
        progress: PageProgress | None = None,
        # whether the file is being written, so that only its whole lines count
        growing: bool = False,
    ) -> list[Document | Failure]:
        """The documents of one file, and a failure for each part of it that gave none.

        Never raises for what is wrong with the file, and never returns an empty list.

        Raises:
            ReaderFailed: The process cannot be started.
        """
        file = resolved(path)
        if isinstance(file, Failure):
            return [file]
        refused = refusal(file) or _wrong_size(file, self.limits.bytes)
        if refused is not None:
            return [refused]
        with _whole_lines(file) if growing else nullcontext(file) as source:
            extracts = self._process.extracts(source, readings=readings, progress=progress)
        results = [_document_or_failure(file, extract) for extract in extracts]
        return results or [Failure(shown(file), N_("holds no document"), N_("remove it"))]


@contextmanager
def _whole_lines(file: Path) -> Iterator[Path]:
    """A file of the same name that holds what is written by now, without a line or cue begun."""
    with TemporaryDirectory(prefix="rag-app-") as folder:
        copy = Path(folder, file.name)
        try:
            data = file.read_bytes()
        except OSError:  # which is told by whoever reads it
            yield file
            return
        if file.suffix.lower() != ".json" and b"\0" not in data:  # not of UTF-16
            data = data[: data.rfind(b"\n") + 1]
        if file.suffix.lower() in {".vtt", ".srt"}:
            data = _without_cue_begun(data)
        copy.write_bytes(data)
        yield copy


def _without_cue_begun(data: bytes) -> bytes:
    """Captions without a number or times at their end that no words follow yet."""
    for begun in (lambda line: b"-->" in line, bytes.isdigit):
        before, _, last = data.rstrip().rpartition(b"\n")
        if begun(last.strip()):
            data = before + b"\n"
    return data


def document(text: str, *, name: str, title: str | None = None) -> Document:
    """A document of text that never was a file; a transcript is recognised.

    Args:
        text: The text. Its newlines become line feeds; NUL and lone surrogates become U+FFFD.
        name: Stands for the path: text of the same name replaces this one.
        title: The name to show; `name` when not given.

    Raises:
        InvalidRequest: The text or the name is blank.
    """
    text, name = clean(text), printable(name)
    if not text.strip() or not name.strip():
        raise InvalidRequest("a document needs a name and some text; one of them is blank")
    extract = Extract(
        text, title=printable(title or name), utterances=transcripts.find_utterances(text)
    )
    return _document(name, "text", extract)


def _wrong_size(file: Path, max_bytes: int) -> Failure | None:
    try:
        size = file.stat().st_size
    except OSError as error:
        return unreachable(file, error)
    if size == 0:
        return Failure(shown(file), N_("is empty"), N_("remove it, or fetch it again"))
    if size <= max_bytes:
        return None
    reason = N_(
        "is %(size)s, over the limit of %(limit)s",
        size=f"{size / MIB:,.1f} MiB",
        limit=f"{max_bytes / MIB:,.1f} MiB",
    )
    flag = f"--max-file-mb {size // MIB + 1}"
    return Failure(shown(file), reason, N_("split it, or allow it with %(option)s", option=flag))


def _document_or_failure(file: Path, extract: Extract | UnreadableFile) -> Document | Failure:
    if isinstance(extract, UnreadableFile):
        return Failure(
            shown(file),
            printable(extract.reason),
            extract.remedy,
            other_kind=isinstance(extract, OtherKind),
            beside_text=isinstance(extract, PartUnread),
        )
    if not extract.text.strip():
        reason = (
            N_("holds no text in %(part)s", part=extract.part)
            if extract.part
            else N_("holds no text")
        )
        return Failure(shown(file), reason, N_("remove it, or fetch it again"))
    kind = extract.format or LOADERS[file.suffix.lower()].format
    return _document(file.as_posix(), kind, extract)


def _document(path: str, kind: str, extract: Extract) -> Document:
    """The extract with its identity."""
    key = f"{path}\0{extract.part}".encode("utf-8", "surrogateescape")
    return Document(
        id=hashlib.sha256(key).hexdigest()[:12],
        path=path,
        part=extract.part,
        title=one_line(extract.title)[:TITLE].strip() or Path(path).stem,
        format=kind,
        digest=content_digest(extract.text, extract.utterances, extract.pages),
        text=extract.text,
        utterances=extract.utterances,
        pages=extract.pages,
        breaks=extract.breaks,
        occasion=_occasion(path, extract),
        figures=extract.figures,
    )


def _occasion(path: str, extract: Extract) -> Occasion:
    """What the loader says, else the head of the text, else the names of the file."""
    stated, written = extract.occasion, occasion_of(extract.text, extract.utterances)
    date, source = stated.date, stated.date_source
    if not date:
        date, source = written.date, written.date_source
    if not date:
        date, source = date_of_file(path)
    if stated.participants:
        return Occasion(date, source, stated.participants, stated.participants_source)
    return Occasion(date, source, written.participants, written.participants_source)
