"""Which uploaded files are indexed at once: small ones of one person, or a recording alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from rag_app.chat.upload_records import UploadStatus
from rag_app.chat.viewer.recording import is_recording

BATCH_FILES, BATCH_BYTES = 16, 1 << 20  # what is larger is indexed by itself


def choose(
    waiting: Sequence[UploadStatus], content: Callable[[str], Path]
) -> dict[str, UploadStatus]:
    """The files to be indexed next, by name, of those that wait, the oldest first.

    Recordings when nothing else waits. `content` says where the content of an upload lies, by its
    id.
    """
    chosen: dict[str, UploadStatus] = {}
    size = 0
    for status in sorted(waiting, key=lambda each: is_recording(each.name)):
        with suppress(OSError):
            size += content(status.id).stat().st_size
        full = len(chosen) == BATCH_FILES or size > BATCH_BYTES or is_recording(status.name)
        other = status.name in chosen or any(each.owner != status.owner for each in chosen.values())
        if chosen and (full or other):
            break
        chosen[status.name] = status
        if is_recording(status.name):
            break
    return chosen
