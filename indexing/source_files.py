"""The files of a run and their contents: documents, failures, and unread parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Document
from indexing.files import FileReader
from indexing.loaders.process import PageProgress
from indexing.message import N_
from indexing.store.file_states import FileState
from indexing.store.pictures import PictureReadings
from indexing.walk import Failure, is_folder, nothing_in, resolved


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that is indexed."""

    real: Path  # its real path
    state: FileState  # what it looked like when the run began
    growing: bool = False  # whether it is being written, so that only its whole lines count

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

    def goes_on(self, before: Mapping[str, str]) -> bool:
        """Whether these are all of the texts that it held before, by part, and what comes after."""
        now = {one.part: one.text for one in self.documents}
        begins = (now.get(part, "").startswith(text.rstrip()) for part, text in before.items())
        return not self.failures and all(begins)


def read_content(
    reader: FileReader,  # reads it
    file: SourceFile,
    # what OCR has read of pictures before, and where it puts what it reads
    readings: PictureReadings,
    *,
    # called with the number of a picture that OCR reads, and how many there are
    report_picture: PageProgress,
) -> FileContent:
    """What a file holds now."""
    entries = reader.read(
        file.real, readings=readings, progress=report_picture, growing=file.growing
    )
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
                Failure(document_name(one), N_("holds no letter and no digit"), N_("remove it"))
            )
    return documents, failures, unread


def is_another(path: str, known: FileState | None) -> bool:
    """Whether a file that is there is not as it was when it was last read whole."""
    try:
        stat = Path(path).stat()
    except OSError:
        return False
    return known != FileState(stat.st_size, stat.st_mtime_ns)


def folders_of_other_kinds(
    paths: Sequence[Path], files: Sequence[Path], other_kinds: Collection[Path]
) -> Iterator[Failure]:
    """Folders in which every file turned out to be of another kind."""
    for folder in paths if other_kinds else ():
        real = resolved(folder)
        if isinstance(real, Failure) or not is_folder(real):
            continue
        inside = [file for file in files if file.is_relative_to(real)]
        if inside and set(inside) <= set(other_kinds):
            what = f"{len(inside)} with a known ending and another content"
            yield nothing_in(folder, what)


def document_name(document: Document) -> str:
    """What a person calls a document of a file."""
    return f"{document.path} ({document.part})" if document.part else document.path
