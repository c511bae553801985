"""What indexing a batch of uploaded files says of each: how far it is, and how it ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from indexing.index_report import IndexReport, Progress
from indexing.message import N_, joined
from rag_app.chat.upload_records import Stage
from rag_app.chat.viewer.recording import recording


class FileProgress:
    """Turns the progress of a batch in bytes into that of its current file."""

    def __init__(self, advance: Callable[..., None], batch: dict[Path, str]) -> None:
        self._advance, self._batch = advance, batch
        self._path, self._done, self._before = "", 0.0, 0.0
        self._start = time.monotonic()

    def __call__(self, step: Progress) -> None:
        """Report the share of a file that is read, 0 to 1, and the seconds that the rest takes."""
        if step.path != self._path:
            self._path, self._before, self._start = step.path, self._done, time.monotonic()
        self._done = step.done
        path = Path(step.path)
        try:
            size = path.stat().st_size
        except OSError:
            return
        share = min(max((step.done - self._before) / max(size, 1), 0.0), 1.0)
        spent = time.monotonic() - self._start
        left = spent * (1 - share) / share if share else None
        if path in self._batch:
            self._advance(self._batch[path], "reading", share, seconds_left=left)


def outcome(
    report: IndexReport,
    path: Path,
    *,
    added: Collection[str | None],
    updated: Collection[str | None],
) -> tuple[Stage, str]:
    """The final stage of a file, and what people are told of it; without the folder of uploads.

    `added` has the paths of new documents, `updated` of those that have changed or moved.
    """
    text = path.as_posix()
    failures = [each for each in report.failures if _concerns(each.path, text)]
    duplicates = [each for each in report.duplicates if _concerns(each.path, text)]
    unread = [each for each in report.unread if each.path == text]
    remarks = (*failures, *duplicates, *unread)
    notes = joined(part for each in remarks for part in (each.reason, each.remedy))
    notes = joined([report.recognised.get(text, ""), notes])
    stage: Stage = "unchanged"
    if text in added:
        stage = "added"
    elif text in updated:
        stage = "updated"
    elif failures:
        stage = "failed"
    elif duplicates:
        stage = "duplicate"
    return stage, notes.without(f"{path.parent.as_posix()}/")


def _concerns(name: str, path: str) -> bool:
    """Whether a name in a report means a file, or a part of it."""
    return name == path or name.startswith(f"{path} (")


def recording_outcome(path: Path, transcripts: Iterable[Path]) -> tuple[Stage, str]:
    """The final stage of a recording, and which transcript it belongs to, or that there is none."""
    for transcript in transcripts:
        played = recording(transcript)
        if played is not None and played.path == path:
            return "added", N_("plays beside %(name)s", name=transcript.name)
        if played is not None:
            return "failed", (
                f"{transcript.name} has another recording, {played.path.name}; remove "
                f"{transcript.name} and upload it again with the recording it is to have"
            )
    reason = N_("is a recording without a transcript, and speech in it is not recognised")
    remedy = N_(
        "upload its transcript as %(name)s.vtt, or in another format that has speakers or times",
        name=path.stem,
    )
    return "failed", joined([reason, remedy])
