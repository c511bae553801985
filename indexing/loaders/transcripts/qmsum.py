"""QMSum meetings: `.json` holds one (`json_transcript.py`), `.jsonl` one a line.

Zhong et al., "QMSum: A New Benchmark for Query-based Multi-domain Meeting Summarization",
NAACL 2021. The text is every utterance of `meeting_transcripts` as "speaker: content", one a line,
exactly as the file has it but for newlines, which become line feeds, so that the utterance numbers
of its queries keep their meaning.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from indexing.documents import Extract, Utterance
from indexing.errors import OtherKind, UnreadableFile
from indexing.loaders.charset import SAVE_AS_UTF8, clean, decode, one_line, printable, utf8
from indexing.loaders.magic import refuse_other_kind
from indexing.message import N_

EXPECTED = N_(
    "give it a list `meeting_transcripts` of objects with the strings `speaker` and `content`"
)
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
REMEDY = N_("fix it, or fetch the file again")


def extract_meeting(path: Path, meeting: dict[str, object]) -> Extract:
    """The one meeting in a file.

    Raises:
        UnreadableFile: It is damaged.
    """
    name = _name(meeting)
    return _extract(path, meeting, title=name or printable(path.stem), part=name)


def load_meetings(path: Path) -> Iterator[Extract | UnreadableFile]:
    """One meeting a line; a line that cannot be used is given back as an error and skipped.

    Raises:
        OtherKind: All lines are JSON of another kind.
        UnreadableFile: No line is a meeting.
    """
    data = path.read_bytes()
    refuse_other_kind(path, data, N_("JSON lines"))
    counts: dict[str, int] = {}  # name: how often, so far
    waiting: list[UnreadableFile] = []  # errors before the first meeting
    for number, line in _lines(path, data):
        try:
            meeting = _meeting(path, parsed(path, _decoded(path, line)))
            name = _name(meeting) or f"line-{number}"
            extract = _extract(path, meeting, title=name, part=name)
        except UnreadableFile as error:
            broken = type(error)(
                path,
                N_("line %(number)s %(reason)s", number=number, reason=error.reason),
                error.remedy,
            )
            if counts:
                yield broken
            else:
                waiting.append(broken)
            continue
        part = _unused(name, counts)
        yield from waiting
        waiting.clear()
        yield extract if part == name else replace(extract, title=part, part=part)
    if waiting:
        worst = min(waiting, key=lambda error: isinstance(error, OtherKind))
        reason = N_("holds no QMSum meeting (%(why)s)", why=worst.reason)
        raise type(worst)(path, reason, worst.remedy)


def _lines(path: Path, data: bytes) -> Iterator[tuple[int, bytes | str]]:
    """Lines with their number from 1, without the blank ones.

    A file with one damaged line must not be taken for another encoding, so each line is decoded
    by itself when any line beyond ASCII is UTF-8.
    """
    rows = data.removeprefix(codecs.BOM_UTF8).split(b"\n")
    lines: Sequence[bytes | str] = rows
    beyond = [row for row in rows if not row.isascii()]
    if beyond and (data.startswith(UTF16) or not any(map(_is_utf8, beyond))):
        lines = decode(path, data).removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield number, line


def _is_utf8(row: bytes) -> bool:
    return utf8(row) is not None


def _decoded(path: Path, line: bytes | str) -> str:
    if isinstance(line, str):
        return line
    text = utf8(line)
    if text is None:
        raise UnreadableFile(path, N_("is not UTF-8"), SAVE_AS_UTF8)
    return text


def parsed(path: Path, text: str) -> object:
    """A JSON value.

    Raises:
        UnreadableFile: It is not JSON.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise UnreadableFile(path, N_("is JSON nested too deeply"), EXPECTED) from None
    except json.JSONDecodeError as error:
        reason = N_(
            "is not valid JSON (line %(line)s, column %(column)s)",
            line=error.lineno,
            column=error.colno,
        )
        raise UnreadableFile(path, reason, REMEDY) from None
    except ValueError:  # Python reads numbers of 4,300 digits at most
        raise UnreadableFile(path, N_("is JSON with a number that is too long"), REMEDY) from None


def is_meeting(values: object) -> TypeGuard[dict[str, object]]:
    """Whether a JSON value is an object with a list of utterances."""
    return isinstance(values, dict) and isinstance(values.get("meeting_transcripts"), list)


def _meeting(path: Path, values: object) -> dict[str, object]:
    """The value, if it is a meeting.

    Raises:
        OtherKind: It is JSON of another kind.
    """
    if not is_meeting(values):
        reason = N_("is JSON but not a QMSum meeting: it has no list `meeting_transcripts`")
        raise OtherKind(path, reason, EXPECTED)
    return values


def _name(meeting: dict[str, object]) -> str:
    """The meeting's `id` in one line, or "" when it has none."""
    name = meeting.get("id")
    return one_line(name) if isinstance(name, str) and name.strip() else ""


def _unused(name: str, counts: dict[str, int]) -> str:
    """The name, with a number behind it when the file has used it already; notes it as taken."""
    unused = name
    while unused in counts:
        counts[name] += 1
        unused = f"{name}-{counts[name]}"
    counts[unused] = 1
    return unused


def _extract(path: Path, meeting: dict[str, object], *, title: str, part: str) -> Extract:
    """The text of a meeting and its utterances."""
    lines: list[str] = []
    utterances: list[Utterance] = []
    at = 0
    turn_list = meeting["meeting_transcripts"]
    assert isinstance(turn_list, list)
    for number, spoken in enumerate(turn_list):
        speaker, words = _spoken(path, number, spoken)
        line = f"{speaker}: {words}"
        text_start = at + len(speaker) + 2
        utterances.append(Utterance(at, at + len(line), text_start, speaker=speaker or None))
        lines.append(line)
        at += len(line) + 1
    if not lines:
        raise UnreadableFile(path, N_("is a meeting in which nobody speaks"), EXPECTED)
    return Extract("\n".join(lines), title=title, part=part, utterances=tuple(utterances))


def _spoken(path: Path, number: int, spoken: object) -> tuple[str, str]:
    """Speaker and words of one utterance."""
    if isinstance(spoken, dict):
        speaker, words = spoken.get("speaker"), spoken.get("content")
        if isinstance(speaker, str) and isinstance(words, str):
            return one_line(speaker), clean(words)
    reason = N_(
        "has a turn (number %(number)s from 0) without the strings `speaker` and `content`",
        number=number,
    )
    raise UnreadableFile(path, reason, EXPECTED)
