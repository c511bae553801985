"""A transcript as JSON: a meeting of QMSum, or the output of Whisper and similar programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import OtherKind, UnreadableFile
from indexing.loaders.charset import decode, remarks
from indexing.loaders.magic import refuse_other_kind
from indexing.loaders.transcripts import qmsum, whisper
from indexing.message import N_


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """One transcript in a file.

    Raises:
        OtherKind: The file is JSON of another kind.
        UnreadableFile: The file is not JSON, or a transcript that is damaged.
    """
    data = path.read_bytes()
    refuse_other_kind(path, data, "JSON")
    values = qmsum.parsed(path, decode(path, data).removeprefix("\ufeff"))
    if qmsum.is_meeting(values):
        yield replace(qmsum.extract_meeting(path, values), format="qmsum")
    elif whisper.is_whisper(values):
        yield replace(whisper.extract(path, values), format="whisper")
    else:
        reason = N_(
            "is JSON but no transcript: it has no list `segments` (Whisper, WhisperX), "
            "`transcription` (whisper.cpp) or `meeting_transcripts` (QMSum)"
        )
        raise OtherKind(path, reason, N_("save the transcript as .vtt or .txt"))
    yield from remarks(path)
