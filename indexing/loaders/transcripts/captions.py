"""Caption cues into a transcript: who says what and when, without repetitions.

A cue is what a screen shows for a moment. Live captions scroll, so a line comes back in the next
cue; one utterance spans many cues. The text of the document is one line an utterance, "Speaker:
words" or just the words, and the time stamps live in `Utterance.time`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from indexing.documents import Extract, Utterance
from indexing.loaders.charset import printable
from indexing.text.transcripts import label

TOUCH = 0.1  # seconds between two cues that follow without a pause
TURN_WORDS = 150  # an utterance as long as this ends with its sentence, to keep its time stamp near
PAUSE = 60.0  # seconds after which the same voice begins an utterance with its own time stamp
LINE_WORDS = 40  # the same for words of nobody, who may be several

_NEGATIVE = re.compile(
    r"(^|(?<=-->)[ \t]?)-((?:\d{1,4}:)?\d\d:\d\d[.,]\d{3})(?=[ \t]*(?:-->|$))", re.MULTILINE
)
_ENDS_SENTENCE = re.compile(r"[.?!\u2026\u3002\uff01\uff1f][\"'\u201d\u2019)\]]*$")


@dataclass(frozen=True, slots=True)
class Cue:
    """Lines shown from `start` to `end` (seconds), in the voice of `speaker` if it is known."""

    start: float
    end: float
    lines: tuple[str, ...]
    speaker: str | None = None


def transcript(cues: Iterable[Cue], *, title: str) -> Extract:
    """A document of cues: labels inside them read, repetitions dropped, utterances put together."""
    shown = sorted(cues, key=lambda cue: cue.start)
    return spoken(list(_labelled(_new_lines(shown))), title=title)


def spoken(cues: Iterable[Cue], *, title: str, timed: bool = True) -> Extract:
    """A document of cues as they are, those of one voice put together up to a sentence's end."""
    texts: list[str] = []
    utterances: list[Utterance] = []
    at = 0
    for cue in _utterances(cues):
        words = " ".join(cue.lines)
        lead = f"{cue.speaker}: " if cue.speaker else ""
        time = cue.start if timed else None
        utterances.append(Utterance(at, at + len(lead + words), at + len(lead), cue.speaker, time))
        texts.append(lead + words)
        at += len(lead + words) + 1
    return Extract("\n".join(texts), title=title, utterances=tuple(utterances))


def plain_lines(markup: str) -> tuple[str, ...]:
    """Lines of a cue without tags, entities, runs of white space and leading byte order marks."""
    from html import unescape

    bare = unescape(re.sub(r"<[^<>\n]*>|\{\\[^{}\n]*\}", "", markup))
    lines = (" ".join(printable(line).split()).lstrip("\ufeff ") for line in bare.split("\n"))
    return tuple(line for line in lines if line)


def without_negatives(text: str) -> str:
    """Captions with times before the beginning, as shifting them leaves, at the beginning."""
    return _NEGATIVE.sub(lambda match: match[1] + re.sub(r"\d", "0", match[2]), text)


def _new_lines(cues: Sequence[Cue]) -> Iterator[Cue]:
    """Cues without what the cue before them showed already: a line that rolled up, or grew."""
    before = Cue(0.0, float("-inf"), ())
    for cue in cues:
        lines = cue.lines
        if cue.start <= before.end + TOUCH and cue.speaker == before.speaker:
            lines = _unseen(before.lines, lines)
        before = cue if cue.lines else before
        if lines:
            yield replace(cue, lines=lines)


def _unseen(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """What `new` shows beyond `old`: its lines past the longest end of `old` it begins with."""
    for size in range(min(len(old), len(new)), 0, -1):
        if old[-size:] == new[:size]:
            return new[size:]
    if old and new and new[0].startswith(old[-1] + " "):
        return (new[0][len(old[-1]) + 1 :], *new[1:])
    return new


def _labelled(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Cues with the "Alice:" inside their lines read as the speaker, where these are names."""
    shown = list(cues)
    speakers = Counter(
        hit[0] for cue in shown if not cue.speaker for line in cue.lines if (hit := label(line))
    )
    common = 2 * speakers.total() >= len(shown)
    names = {name for name, count in speakers.items() if common or count > 1}
    speaker: str | None = None  # a cue without a label goes on in the voice before it
    for cue in shown:
        if cue.speaker or not names:
            yield cue
            continue
        for line in cue.lines:
            hit = label(line)
            if hit and hit[0] in names:
                speaker = hit[0]
            words = line[hit[1] :] if hit and hit[0] in names else line
            if words:
                yield replace(cue, lines=(words,), speaker=speaker)


def _utterances(cues: Iterable[Cue]) -> Iterator[Cue]:
    """Neighbouring cues of one voice as one, up to the end of a sentence."""
    pending: list[Cue] = []
    words = 0
    for cue in cues:
        paused = pending and cue.start - pending[-1].end > PAUSE
        if pending and (
            paused or cue.speaker != pending[0].speaker or _is_over(pending[-1], words)
        ):
            yield _joined(pending)
            pending, words = [], 0
        pending.append(cue)
        words += sum(len(line.split()) for line in cue.lines)
    if pending:
        yield _joined(pending)


def _joined(cues: Sequence[Cue]) -> Cue:
    """One cue that says what all of them say."""
    lines = tuple(line for cue in cues for line in cue.lines)
    return replace(cues[0], end=cues[-1].end, lines=lines)


def _is_over(cue: Cue, words: int) -> bool:
    """Whether an utterance is complete: a long one of somebody, any sentence of nobody."""
    ended = bool(_ENDS_SENTENCE.search(cue.lines[-1]))
    if cue.speaker:
        return words >= TURN_WORDS and (ended or words >= 2 * TURN_WORDS)
    return ended or words >= LINE_WORDS
