"""Scores in a file, each written as soon as it is known: a run that was stopped goes on."""

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
    """Scores by what was asked.

    Attributes:
        known: Plain values by key, those of earlier runs among them.
        file: Where each new one is written, a line each.
    """

    known: dict[str, list[Any]]
    file: TextIO

    def add(self, key: str, *values: Any) -> None:  # noqa: ANN401 - plain values of any type
        """Remember a score, here and in the file."""
        self.known[key] = list(values)
        self.file.write(json.dumps([key, *values]) + "\n")
        self.file.flush()


def key(*asked: object) -> str:
    """What stands for everything that a score depends on, given as plain values."""
    return hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()[:24]


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
