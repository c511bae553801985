"""A file of scores, each written as soon as it is known, so that a stopped run resumes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from indexing.errors import InvalidRequest


@dataclass(eq=False)
class ScoreFile:
    """Scores by key.

    Attributes:
        scores: Plain values by key, with those of earlier runs.
        file: Where new ones are written, a line each.
    """

    scores: dict[str, list[Any]]
    file: TextIO

    def add(self, key: str, *values: Any) -> None:  # noqa: ANN401 - plain values of any type
        """Add a score, and write it to the file."""
        self.scores[key] = list(values)
        self.file.write(json.dumps([key, *values]) + "\n")
        self.file.flush()


def key(*values: object) -> str:
    """The key of everything that a score depends on, given as plain values."""
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:24]


@contextmanager
def score_file(path: Path) -> Iterator[ScoreFile]:
    """The scores of a file, which a run that was killed may have left with half a line.

    Raises:
        InvalidRequest: It cannot be read or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        with path.open("a", encoding="utf-8") as file:
            file.write("\n")
            yield ScoreFile(dict(_lines(lines)), file)
    except OSError as error:
        raise InvalidRequest(
            f"{path}: scores cannot be saved there ({error.strerror}); set $RAG_APP_CACHE"
        ) from error


def _lines(lines: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    for line in lines:
        try:
            name, *values = json.loads(line)
        except (ValueError, TypeError):
            continue
        if isinstance(name, str) and values:
            yield name, values
