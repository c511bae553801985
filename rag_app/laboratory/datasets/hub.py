"""LongEmbed's tasks from the model hub: NarrativeQA, SummScreenFD, 2WikiMultihopQA.

They come from the data set that MTEB scores on, at the same revision, as JSON lines: `corpus`
(doc_id, text), `queries` (qid, text) and `qrels` (qid, doc_id). A folder with these three files
serves as well.
"""

from __future__ import annotations

import json
from pathlib import Path

from indexing.errors import UnreadableFile
from indexing.files import document
from rag_app.laboratory.datasets.task import Task, TaskQuery

REPOSITORY = "dwzhu/LongEmbed"
REVISION = "6e346642246bfb4928c560ee08640dc84d074e8c"  # the one that MTEB pins
FILES = ("corpus.jsonl", "queries.jsonl", "qrels.jsonl")


HUB_TASKS = {
    "narrativeqa": "narrativeqa",
    "summscreenfd": "summ_screen_fd",
    "2wikimqa": "2wikimqa",
}
"""Folders of the tasks in the repository; all three are tasks of MTEB."""


def lies_in(folder: Path) -> bool:
    """Whether a folder holds a task in the repository's form; QMSum may come so, too."""
    return all((folder / file).is_file() for file in FILES)


def load(name: str, folder: Path | None = None) -> Task:
    """A task, from a folder with its three files or from the hub.

    Raises:
        UnreadableFile: The files cannot be fetched or read, or are incomplete.
    """
    corpus, queries, qrels = (_rows(file) for file in _files(HUB_TASKS.get(name, name), folder))
    documents = [
        document(_field(row, "text"), name=f"{name}/{_field(row, 'doc_id')}") for row in corpus
    ]
    position = {_field(row, "doc_id"): number for number, row in enumerate(corpus)}
    gold = {_field(row, "qid"): _field(row, "doc_id") for row in qrels}
    pairs = [(_field(row, "text"), gold.get(_field(row, "qid"))) for row in queries]
    if not documents or any(answer not in position for _, answer in pairs):
        raise UnreadableFile(folder or REPOSITORY, "is incomplete", "fetch all three files again")
    return Task(name, tuple(documents), tuple(TaskQuery(t, position[str(d)]) for t, d in pairs))


def _files(configuration: str, folder: Path | None) -> list[Path]:
    if folder is not None:
        return [folder / file for file in FILES]
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return [
            Path(
                hf_hub_download(
                    REPOSITORY,
                    f"{configuration}/{file}",
                    repo_type="dataset",
                    revision=REVISION,
                )
            )
            for file in FILES
        ]
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise UnreadableFile(
            f"{REPOSITORY} ({configuration})",
            f"is not in the cache of the model hub and cannot be fetched ({type(error).__name__})",
            f"connect to the network, or give --data a folder with {', '.join(FILES)}",
        ) from error


def _rows(file: Path) -> list[dict[str, object]]:
    try:
        lines = file.read_text("utf-8").split("\n")
        rows = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        raise UnreadableFile(file, f"cannot be read ({error})", "fetch it again") from error
    if not all(isinstance(row, dict) for row in rows):
        raise UnreadableFile(file, "holds lines that are not objects", "fetch it again")
    return rows


def _field(row: dict[str, object], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str | int):
        raise UnreadableFile(REPOSITORY, f"has a line without `{name}`", "fetch it again")
    return str(value)
