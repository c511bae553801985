"""SubRip captions; "Alice: words" inside of them names the speaker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import UnreadableFile
from indexing.loaders.charset import printable, read_text, remarks
from indexing.loaders.transcripts.captions import Cue, plain_lines, transcript, without_negatives
from indexing.message import N_

SAVE_AGAIN = N_("fix it, or save the captions as SubRip again")

_BLANK_LINES = re.compile(r"\n\s*\n")
_BLANKS = re.compile(r"[^\S\n]+")
_LONG_NUMBER = re.compile(r"\d{20}")


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """One transcript.

    Raises:
        UnreadableFile: It is not SubRip, or a caption of it is damaged.
    """
    text = without_negatives(read_text(path))
    if "-->" not in text and text.strip():
        reason = N_("holds no caption with times, so it is not SubRip")
        raise UnreadableFile(
            path, reason, N_("save the captions as SubRip again, or rename it to .txt")
        )
    yield transcript(_cues(path, text), title=printable(path.stem))
    yield from remarks(path)


def _cues(path: Path, text: str) -> list[Cue]:
    """The captions by the srt library.

    Its pattern takes the square or the cube of the length of a run of white space or digits, so
    the first are shortened, which changes no caption, and the second refused.
    """
    import srt

    if _LONG_NUMBER.search(text):
        raise UnreadableFile(path, N_("has a number of 20 digits or more in it"), SAVE_AGAIN)
    cues: list[Cue] = []
    try:
        for each in srt.parse(_BLANKS.sub(" ", _BLANK_LINES.sub("\n\n", text))):
            start, end = each.start.total_seconds(), each.end.total_seconds()
            cues.append(Cue(start, end, plain_lines(each.content)))
    except srt.SRTParseError:
        reason = N_("has a damaged caption, after %(number)s good ones", number=len(cues))
        raise UnreadableFile(path, reason, SAVE_AGAIN) from None
    return cues
