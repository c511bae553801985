"""Haystacks: text cut to a number of words, with needles planted in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Document
from indexing.errors import InvalidRequest, UnreadableFile
from indexing.files import FileReader
from indexing.walk import Failure, walk

SAMPLES = Path(__file__).resolve().parents[3] / "data" / "samples"

_WORD = re.compile(r"\S+")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+|\n+")


@dataclass(frozen=True)
class Haystack:
    """Text with the spans of its words, which are separated by white space."""

    text: str
    spans: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Haystack:
        """The texts, joined by blank lines."""
        text = "\n\n".join(texts)
        return cls(text, tuple(match.span() for match in _WORD.finditer(text)))

    def cut(self, first: int, words: int) -> str:
        """`words` consecutive words from word `first` on, wrapping around at the end."""
        pieces = []
        while words > 0:
            first %= len(self.spans)
            last = min(first + words, len(self.spans))
            pieces.append(self.text[self.spans[first][0] : self.spans[last - 1][1]])
            words -= last - first
            first = last
        return "\n\n".join(pieces)


def plant(text: str, needle: str, depth: float) -> str:
    """The text with a needle inserted between two sentences, on a line of its own.

    Args:
        text: At least a sentence.
        needle: The line to insert.
        depth: 0 before the text, 1 after it; else the end of the sentence or line that is nearest
            to this share of its characters.
    """
    places = [0, *(match.end() for match in _SENTENCE_END.finditer(text)), len(text)]
    at = min(places, key=lambda place: abs(place - depth * len(text)))
    before, after = text[:at].rstrip(), text[at:].lstrip()
    return "\n".join(part for part in (before, needle, after) if part)


def haystack(path: Path | None) -> Haystack:
    """The documents of a file or folder, or the sample documents that come with the source.

    Raises:
        InvalidRequest: No path, and no samples here.
        UnreadableFile: Nothing to read under the path.
    """
    if path is None and not SAMPLES.is_dir():
        raise InvalidRequest(
            "the sample documents are not here to hide needles in; name your own: --haystack PATH"
        )
    source = path or SAMPLES
    with FileReader() as reader:
        entries = [one for file in _files(source) for one in reader.read(file)]
    texts = [one.text for one in entries if isinstance(one, Document)]
    if not texts:
        raise UnreadableFile(source, "holds no document", "name another: --haystack PATH")
    return Haystack.of(texts)


def _files(source: Path) -> list[Path]:
    files = list(walk([source]))
    if len(files) == 1 and isinstance(files[0], Failure):
        raise UnreadableFile(files[0].path, files[0].reason, files[0].remedy)
    return [file for file in files if isinstance(file, Path)]
