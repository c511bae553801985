"""The files of a run and their contents: documents, failures, and unread parts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexing.documents import Document
from indexing.files import FileReader
from indexing.prefetch import OnCaller, run_here
from indexing.store.file_states import FileState
from indexing.store.pictures import PictureReadings
from indexing.walk import Failure, is_folder, nothing_in, resolved


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that is indexed.

    Attributes:
        real: Its real path.
        state: What it looked like when the run began.
        growing: Whether it is being written, so that only its whole lines count.
    """

    real: Path
    state: FileState
    growing: bool = False

    @property
    def path(self) -> str:
        """The path as documents spell it."""
        return self.real.as_posix()


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file holds.

    Attributes:
        file: The file.
        documents: Those that can be indexed.
        failures: What cannot.
        unread: What is beside the text.
        readings: Keys of the pictures that OCR has read for it.
    """

    file: SourceFile
    documents: tuple[Document, ...]
    failures: tuple[Failure, ...]
    unread: tuple[Failure, ...]
    readings: tuple[str, ...]

    def characters(self) -> int:
        """Of all documents."""
        return sum(len(one.text) for one in self.documents)

    def goes_on(self, before: Mapping[str, str]) -> bool:
        """Whether these are all of the texts that it held before, by part, and what comes after."""
        now = {one.part: one.text for one in self.documents}
        begins = (now.get(part, "").startswith(text.rstrip()) for part, text in before.items())
        return not self.failures and all(begins)


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

    kept = _CallerReadings(readings, on_caller)
    entries = reader.read(file.real, readings=kept, progress=report, growing=file.growing)
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
    """Folders in which every file turned out to be of another kind.

    Args:
        paths: Files and folders.
        files: The files in them.
        other_kinds: Those of them that are.
    """
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
