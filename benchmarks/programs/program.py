"""`python -m benchmarks.programs.NAME index|search FOLDER`: what every program does in one way."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

BEST = 10  # passages or documents of a search


class Text(NamedTuple):
    """A passage, and the document that it is of."""

    document: str
    text: str


class Job(NamedTuple):
    """What a program works on.

    Attributes:
        folder: For what it keeps between its two processes.
        encoder: Folder of the model.
        files: The documents, for a program that reads them itself.
        texts: Their passages.
    """

    folder: Path
    encoder: str
    files: list[str]
    texts: list[Text]


Search = Callable[[str], Sequence[str]]
"""A question -> the documents of what is found, best first."""


def main(index: Callable[[Job], None], load: Callable[[Job], Search]) -> None:
    """Index, or search with each question that stands in the input, and print what was found.

    A line of output for each question: its CPU seconds, and the documents.
    """
    what, folder = sys.argv[1:]
    values = json.loads(Path(folder, "job.json").read_text("utf-8"))
    texts = [Text(*each) for each in values["texts"]]
    job = Job(Path(folder, values["name"]), values["encoder"], values["files"], texts)
    if what == "index":
        job.folder.mkdir()
        index(job)
        return
    search = load(job)
    for line in sys.stdin:
        used = time.process_time()
        found = list(dict.fromkeys(search(json.loads(line))))
        print(json.dumps([time.process_time() - used, found]), flush=True)
