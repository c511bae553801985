"""SubRip captions; "Alice: words" inside of them names the speaker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexing.captions import Cue, plain_lines, transcript
from indexing.decoding import printable, read_text
from indexing.documents import Extract
from indexing.errors import UnreadableFile


def load(path: Path) -> Iterator[Extract]:
    """One transcript.

    Raises:
        UnreadableFile: It is not SubRip, or a caption of it is damaged.
    """
    import srt

    text = read_text(path)
    try:
        captions = list(srt.parse(text))
    except srt.SRTParseError as error:
        line = text.count("\n", 0, error.expected_start) + 1
        reason = f"has a damaged caption near line {line}"
        raise UnreadableFile(
            path, reason, "mend it, or save the captions as SubRip again"
        ) from None
    if not captions and text.strip():
        reason = "holds no caption with times, so it is not SubRip"
        raise UnreadableFile(
            path, reason, "save the captions as SubRip again, or rename it to .txt"
        )
    cues = [
        Cue(each.start.total_seconds(), each.end.total_seconds(), plain_lines(each.content))
        for each in captions
    ]
    yield transcript(cues, title=printable(path.stem))
