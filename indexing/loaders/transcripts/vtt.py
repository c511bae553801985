"""WebVTT captions (W3C, "WebVTT: The Web Video Text Tracks Format"), voices as speakers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from indexing.documents import NO_OCCASION, Extract, Occasion
from indexing.errors import UnreadableFile
from indexing.loaders.charset import printable, read_text, remarks
from indexing.loaders.transcripts.captions import Cue, plain_lines, transcript, without_negatives
from indexing.message import N_
from indexing.text.days.dates import date_in
from indexing.text.transcripts import seconds

_TITLE = 400  # characters of what may stand behind WEBVTT
_VOICE = re.compile(r"<v(?:\.[^\s<>]{1,200})?[ \t]+(?P<speaker>[^<>\n]{1,200})>")
_TIMES = re.compile(r"^[^\n]*-->", re.MULTILINE)


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """One transcript.

    Raises:
        UnreadableFile: It is not WebVTT, or a cue of it is damaged.
    """
    from webvtt import WebVTT
    from webvtt.errors import MalformedFileError

    text = without_negatives(read_text(path))
    try:
        captions = WebVTT.from_string(text)
    except MalformedFileError:
        reason = N_("does not begin with WEBVTT, so it is not WebVTT")
        raise UnreadableFile(path, reason, N_("save the captions as WebVTT again")) from None
    announced = len(_TIMES.findall(text))
    if len(captions) < announced:
        reason = N_(
            "has %(bad)s damaged cues among %(all)s", bad=announced - len(captions), all=announced
        )
        raise UnreadableFile(
            path, reason, N_('fix the lines with "-->" or save the captions again')
        )
    cues = [
        cue
        for caption in captions
        for cue in _voices(caption.raw_text, seconds(caption.start), seconds(caption.end))
    ]
    date = date_in(text.partition("\n")[0][:_TITLE])
    occasion = Occasion(date, "title of the captions") if date else NO_OCCASION
    yield replace(transcript(cues, title=printable(path.stem)), occasion=occasion)
    yield from remarks(path)


def _voices(markup: str, start: float, end: float) -> Iterator[Cue]:
    """A cue for each voice that speaks in one cue, in order."""
    marks = list(_VOICE.finditer(markup))
    first = marks[0].start() if marks else len(markup)
    if lines := plain_lines(markup[:first]):
        yield Cue(start, end, lines)
    stops = [mark.start() for mark in marks[1:]] + [len(markup)]
    for mark, stop in zip(marks, stops, strict=True) if marks else ():
        if lines := plain_lines(markup[mark.end() : stop]):
            yield Cue(start, end, lines, " ".join(plain_lines(mark["speaker"])) or None)
