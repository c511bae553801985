"""JSON as Whisper and similar programs write it: segments with times, and speakers if any.

OpenAI's whisper (`transcribe` with `--output_format json`), faster-whisper and WhisperX have a list
`segments` of objects with `start`, `end` (seconds) and `text`; WhisperX adds `speaker` to segments
and words, and has words without times. whisper.cpp (`-oj`) has a list `transcription` of objects
with `offsets` (milliseconds) and `text`.
"""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any, TypeGuard

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.loaders.charset import clean, one_line, printable
from indexing.loaders.transcripts.captions import Cue, spoken
from indexing.message import N_

EXPECTED = N_("write it again, as JSON with a list `segments` of objects with a string `text`")

_LONGEST = 1e7  # seconds; a time beyond is none
_SPEAKER = 200  # characters of a name


def is_whisper(values: object) -> TypeGuard[dict[str, Any]]:
    """Whether a JSON value has the form of a transcript by Whisper: some segment has words."""
    return isinstance(values, dict) and any(
        isinstance(one, dict) and not {"text", "words"}.isdisjoint(one) for one in _segments(values)
    )


def _segments(values: dict[str, Any]) -> list[object]:
    either = (values.get("segments"), values.get("transcription"))
    return next((each for each in either if isinstance(each, list)), [])


def extract(path: Path, values: dict[str, Any]) -> Extract:
    """A transcript: utterances of who speaks, or sentences of nobody.

    Segments come in the order of their times; those that overlap follow one another.

    Raises:
        UnreadableFile: A segment is damaged.
    """
    segments = _segments(values)
    cues: list[Cue] = []
    for number, segment in enumerate(segments):
        text = _text(path, number, segment)
        start, end = _times(segment)
        before = cues[-1].end if cues else 0.0
        words = " ".join(clean(text).split())
        start = before if start is None else start
        if words:
            cues.append(Cue(start, start if end is None else end, (words,), _speaker(segment)))
    cues.sort(key=lambda cue: cue.start)
    timed = any(_times(segment)[0] is not None for segment in segments)
    return spoken(cues, title=printable(path.stem), timed=timed)


def _text(path: Path, number: int, segment: object) -> str:
    if isinstance(segment, dict):
        text = segment.get("text")
        if isinstance(text, str):
            return text
        words = segment.get("words")
        if text is None and isinstance(words, list):
            parts = [word.get("word") for word in words if isinstance(word, dict)]
            return " ".join(word for word in parts if isinstance(word, str))
    reason = N_("has a segment (number %(number)s from 0) without a string `text`", number=number)
    raise UnreadableFile(path, reason, EXPECTED)


def _times(segment: object) -> tuple[float | None, float | None]:
    """Start and end in seconds, as far as they are numbers."""
    assert isinstance(segment, dict), "its text was read"
    offsets = segment.get("offsets")
    if isinstance(offsets, dict):  # whisper.cpp
        start, end = _number(offsets.get("from")), _number(offsets.get("to"))
        return (None if start is None else start / 1000), (None if end is None else end / 1000)
    return _number(segment.get("start")), _number(segment.get("end"))


def _number(value: object) -> float | None:
    """A time; None for what is none, such as NaN, a negative one or text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _LONGEST * 1000 and math.isfinite(value) else None


def _speaker(segment: object) -> str | None:
    """Of the segment, else of most of its words."""
    assert isinstance(segment, dict), "its text was read"
    name = segment.get("speaker")
    if not isinstance(name, str) or not name.strip():
        words = segment.get("words")
        known = words if isinstance(words, list) else []
        names = Counter(
            each
            for word in known
            if isinstance(word, dict) and isinstance(each := word.get("speaker"), str)
        )
        name = next((each for each, _ in names.most_common(1)), "")
    return " ".join(one_line(name).split())[:_SPEAKER] or None
