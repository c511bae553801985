"""File names for other programs: without the folders that the files are in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rag_app.corpus.corpus import Corpus


def file_name(path: str) -> str:
    """The name of a file, without its folders."""
    return path.rsplit("/", 1)[-1]


def model_name(model: str) -> str:
    """A model by its name, or by that of its folder or file where it lies on this machine."""
    return Path(model).name if Path(model).is_absolute() else model


def without_folder(message: str, corpus: Corpus) -> str:
    """A message that does not say where the corpus lies."""
    return message.replace(str(corpus.folder), "the corpus")
