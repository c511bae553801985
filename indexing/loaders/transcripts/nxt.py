"""One speaker's words in the NITE XML Toolkit's format, as in the AMI and ICSI corpora.

Carletta et al., "The NITE XML Toolkit", 2003. A file `ES2002a.A.words.xml` holds what speaker A
says: `w` with start and end, punctuation as `w punc="true"`, and sounds, gaps and slips of the
tongue as elements of their own, which become `{vocalsound}`, `{gap}`, `{disfmarker}` as in QMSum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexing.documents import Extract
from indexing.errors import OtherKind, UnreadableFile
from indexing.loaders.charset import clean, printable
from indexing.loaders.transcripts.captions import Cue, spoken
from indexing.loaders.xml_file import Element, name_of, root_of
from indexing.message import N_

PAUSE = 1.0  # seconds after which somebody who goes on speaks again

_SOUNDS = frozenset({"vocalsound", "nonvocalsound", "disfmarker", "gap", "comment", "pause"})
_NAME = re.compile(r"(?P<meeting>.+)\.(?P<speaker>[^.]{1,40})\.words", re.IGNORECASE)
_JOINED = re.compile(r"['\u2019.,;:!?%)\]]|n['\u2019]t\b")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: float | None
    end: float | None
    joined: bool = False


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """The words of one speaker, an utterance from pause to pause.

    Raises:
        OtherKind: It is XML of another kind.
        UnreadableFile: It is no XML, or damaged.
    """
    root = root_of(path)
    words = list(_words(root))
    if name_of(root) not in {"root", "nite"} or not any(name_of(each) == "w" for each in root):
        reason = N_(
            "is XML but no words of the NITE toolkit: it begins with <%(tag)s>",
            tag=name_of(root)[:60],
        )
        raise OtherKind(
            path, reason, N_("save its text as .txt, or give it the ending of what it is")
        )
    named = _NAME.fullmatch(path.stem) or _NAME.fullmatch(str(_identity(root)))
    speaker = named["speaker"] if named else None
    title = f"{named['meeting']}, {speaker}" if named else path.stem
    timed = any(word.start is not None for word in words)
    yield spoken(_cues(words, speaker), title=printable(title), timed=timed)


def _identity(root: Element) -> str:
    return next((value for name, value in root.attrib.items() if name.endswith("}id")), "")


def _words(root: Element) -> Iterator[_Word]:
    for element in root:
        name = name_of(element)
        start, end = _seconds(element.get("starttime")), _seconds(element.get("endtime"))
        if name == "w":
            text = "".join(clean("".join(element.itertext())).split())
            joined = element.get("punc") == "true" or _JOINED.match(text) is not None
            if text:
                yield _Word(text, start, end, joined)
        elif name in _SOUNDS:
            yield _Word(f"{{{name}}}", start, end)


def _cues(words: list[_Word], speaker: str | None) -> Iterator[Cue]:
    """A cue from each pause to the next."""
    pieces: list[str] = []
    start = end = 0.0
    for word in words:
        begins = end if word.start is None else word.start
        if pieces and not word.joined and begins - end > PAUSE:
            yield Cue(start, end, ("".join(pieces),), speaker)
            pieces = []
        if not pieces:
            start = begins
        pieces.append(word.text if word.joined or not pieces else f" {word.text}")
        end = max(end, begins if word.end is None else word.end)
    if pieces:
        yield Cue(start, end, ("".join(pieces),), speaker)


def _seconds(value: str | None) -> float | None:
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds < 1e7 else None
