"""The files of a run and their contents: documents, failures, and unread parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Document
from indexing.files import FileReader
from indexing.loaders.process import PageProgress
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


def read_content(
    reader: FileReader,
    file: SourceFile,
    readings: PictureReadings,
    *,
    report_picture: PageProgress,
) -> FileContent:
    """What a file holds now.

    Args:
        reader: Reads it.
        file: The file.
        readings: What OCR has read of pictures before, and where it puts what it reads.
        report_picture: Called with the number of a picture that OCR reads, and how many there are.
    """
    entries = reader.read(file.real, readings=readings, progress=report_picture)
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
