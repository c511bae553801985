"""Sample documents that ship with the program, added as if they had been dropped on the page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import rag_app
from rag_app.chat.queues.disk import on_disk
from rag_app.chat.queues.ingest_queue import IngestQueue
from rag_app.chat.uploads import Uploads

FILES = (
    "heron-1-kick-off.vtt",
    "heron-5-field-trial.vtt",
    "heron-6-last-of-the-year.txt",
    "probe-supply-agreement.docx",
    "staff-handbook.html",
    "state-of-the-ellmere-2024.pdf",
)
"""A kind each: three meetings of one project, a contract, a handbook and a report."""


def samples() -> list[Path]:
    """The samples: in the installed package, or in the folder of the project; none elsewhere."""
    package = Path(rag_app.__file__).parent
    for folder in (package / "samples", package.parent / "data" / "samples"):
        files = [folder / name for name in FILES if (folder / name).is_file()]
        if files:
            return files
    return []


async def add_samples(uploads: Uploads, queue: IngestQueue, owner: str | None) -> int:
    """Queue them to be indexed, for whoever asks for them; how many there are.

    Raises:
        CorpusError: They cannot be saved.
    """
    found = samples()
    for path in found:
        received = await uploads.receive(path.name, _content(path), owner=owner)
        await on_disk(queue.add, received)
    return len(found)


async def _content(path: Path) -> AsyncIterator[bytes]:
    yield path.read_bytes()
