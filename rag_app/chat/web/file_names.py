"""File names for other programs: without the folders that the files are in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from generator.answer import Answer
    from rag_app.corpus.access import SharedCorpus


def file_name(path: str) -> str:
    """The name of a file, without its folders."""
    return path.rsplit("/", 1)[-1]


def model_name(model: str) -> str:
    """A model by its name, or by that of its folder or file where it lies on this machine."""
    return Path(model).name if Path(model).is_absolute() else model


def without_places(answer: Answer) -> Answer:
    """An answer that names files and models, and not where they lie."""
    citations, closest = (
        tuple(replace(one, path=file_name(one.path)) for one in each)
        for each in (answer.citations, answer.closest)
    )
    configuration = {name: model_name(state) for name, state in answer.configuration.items()}
    model = model_name(answer.model)
    return replace(
        answer, citations=citations, closest=closest, model=model, configuration=configuration
    )


def without_folder(message: str, corpus: SharedCorpus) -> str:
    """A message that does not say where the corpus lies."""
    return message.replace(str(corpus.folder), "the corpus")
