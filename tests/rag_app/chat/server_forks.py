"""Imports what `rag-app serve` imports, once, then forks a server for each that is asked for.

Reads lines of JSON from standard input and answers each with a line: `{"words", "out",
"environment"}` with the process id of a `rag-app` of these words, whose output goes to the file
`out`; `{"ended"}` with whether this process has ended.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SLOW = "TEST_SLOW_ANSWERS"  # the variable that names a file

# What a server imports one after another until its first answer, what its models need included.
MODULES = (
    "rag_app.cli.main",
    "rag_app.cli.serve",
    "rag_app.chat.application",
    "uvicorn",
    "gradio",
    "rag_app.chat.page.page",
    "rag_app.chat.web.server",
    "rag_app.chat.web.startup",
    "rag_app.chat.web.body_limit",
    "rag_app.chat.web.mcp.tools",
    "rag_app.chat.web.openai_api",
    "rag_app.chat.web.routes.changes",
    "rag_app.chat.web.routes.documents",
    "rag_app.chat.web.routes.events",
    "rag_app.chat.web.routes.languages",
    "rag_app.chat.web.routes.models",
    "rag_app.chat.web.routes.uploads",
    "rag_app.corpus.corpus",
    "rag_app.corpus.question_answering",
    "rag_app.requests.router",
    "rag_app.register.reading",
    "indexing.encoder.encoder",
    "indexing.encoder.mean_model",
    "indexing.encoder.compiled_bert",
    "indexing.nn.contextual_bert",
    "indexing.indexer",
    "generator.generator",
    "generator.reader.reading",
    "generator.reader.cross_encoder",
    "generator.extractive.context.contextual_model",
    "retriever.retriever",
)


def write_slowly(slow: Path) -> None:
    """While a file is there, generated answers come piece by piece and end only when stopped.

    So tests see an answer on its way, however quick or slow the machine and the model are.
    """
    from generator.answer import AnswerReady, Event
    from generator.generator import Generator

    at_once = Generator.stream

    def stream(
        self: Generator, *arguments: Any, stop: threading.Event | None = None
    ) -> Iterator[Event]:
        stopped = stop or threading.Event()
        for event in at_once(self, *arguments, stop=stop):
            is_last = isinstance(event, AnswerReady)
            if arguments[0].mode == "free":
                while slow.exists() and not stopped.wait(0.5) and is_last:
                    pass
            yield event

    Generator.stream = stream  # type: ignore[assignment, method-assign]


def without_the_larger_reader() -> None:
    """Answers are those of the readers that every development environment has."""
    from generator import parts
    from rag_app.corpus import models

    parts.has_large = models.has_large = lambda: False  # type: ignore[attr-defined]


def serve(job: dict[str, Any]) -> None:
    """Become `rag-app` with these words, as if it had been started by itself."""
    gc.unfreeze()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out = os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(out, 1)
    os.environ.clear()
    os.environ.update(job["environment"])
    sys.argv = ["rag-app", *job["words"]]
    write_slowly(Path(job["environment"][SLOW]))
    importlib.import_module("rag_app.__main__").run()


def has_ended(process: int) -> bool:
    """Whether a fork has ended."""
    return os.waitpid(process, os.WNOHANG)[0] == process


def main() -> None:
    """Fork servers until standard input ends."""
    from indexing.models.runtime import share_memory

    share_memory()
    for name in MODULES:
        importlib.import_module(name)
    without_the_larger_reader()
    assert threading.active_count() == 1, threading.enumerate()
    gc.freeze()  # so that forks share the memory of what is imported
    print("ready", flush=True)
    while line := sys.stdin.readline():
        job = json.loads(line)
        if "ended" in job:
            print(json.dumps(has_ended(job["ended"])), flush=True)
            continue
        process = os.fork()
        if not process:
            serve(job)
            return
        print(process, flush=True)


if __name__ == "__main__":
    main()
