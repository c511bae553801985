"""The files of a run and their contents: documents, failures, and unread parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexing.documents import Document
from indexing.files import FileReader
from indexing.prefetch import OnCaller, run_here
from indexing.store.file_states import FileState
from indexing.store.pictures import PictureReadings
from indexing.walk import Failure


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that is indexed: its real path, and its state when the run began."""

    real: Path
    state: FileState

    @property
    def path(self) -> str:
        """The path as documents spell it."""
        return self.real.as_posix()


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds."""

    file: SourceFile
    documents: tuple[Document, ...]
    failures: tuple[Failure, ...]
    unread: tuple[Failure, ...]
    readings: tuple[str, ...]

    def characters(self) -> int:
        """Of all documents."""
        return sum(len(one.text) for one in self.documents)


@dataclass(frozen=True, slots=True)
class _CallerReadings:
    """What OCR has read of pictures, in a store whose connection belongs to another thread."""

    readings: PictureReadings
    on_caller: OnCaller

    def get(self, key: str, /) -> dict[str, Any] | None:
        """Of a picture; None where there is none."""
        reading: dict[str, Any] | None = self.on_caller(lambda: self.readings.get(key))
        return reading

    def __setitem__(self, key: str, reading: dict[str, Any], /) -> None:
        """Store it."""
        self.on_caller(lambda: self.readings.__setitem__(key, reading))


def read_content(
    reader: FileReader,
    file: SourceFile,
    readings: PictureReadings,
    *,
    report_picture: Callable[[int, int], None],
    on_caller: OnCaller = run_here,
) -> FileContent:
    """What a file holds now.

    Args:
        reader: Reads it.
        file: The file.
        readings: What OCR has read of pictures before, and where it puts what it reads.
        report_picture: Called with the number of a picture that OCR reads, and how many there are.
        on_caller: Runs what belongs to the thread that takes the content.
    """

    def report(picture: int, pictures: int) -> None:
        on_caller(lambda: report_picture(picture, pictures))

    entries = reader.read(file.real, readings=_CallerReadings(readings, on_caller), progress=report)
    documents, failures, unread = _partition(entries)
    return FileContent(file, tuple(documents), tuple(failures), tuple(unread), tuple(readings.used))


def _partition(
    entries: Iterable[Document | Failure],
) -> tuple[list[Document], list[Failure], list[Failure]]:
    """What can be indexed, what cannot (text without a word among it), what is beside the text."""
    documents: list[Document] = []
    failures: list[Failure] = []
    unread: list[Failure] = []
    for one in entries:
        if isinstance(one, Failure):
            (unread if one.beside_text else failures).append(one)
        elif any(character.isalnum() for character in one.text):
            documents.append(one)
        else:
            failures.append(
                Failure(document_name(one), "holds no letter and no digit", "remove it")
            )
    return documents, failures, unread


def document_name(document: Document) -> str:
    """What a person calls a document of a file."""
    return f"{document.path} ({document.part})" if document.part else document.path
