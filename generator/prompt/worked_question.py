"""Worked questions: how answers are to be written, shown to a model before it is asked.

As in Flamingo (Alayrac et al. 2022, arXiv 2204.14198, section 2.4), a few examples of a task stand
before it in the prompt. Here each is a turn of a conversation: the user shows evidence and asks,
the model answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from generator.prompt.pictures import MOST as MOST_PICTURES
from generator.prompt.pictures import Picture, safe_picture
from indexing.errors import UnreadableFile

MOST = 16
"""Worked questions of a file that are used."""

MOST_FILE = 20 << 20
"""Bytes of the file of a picture."""

_REMEDY = 'write a line for each: {"question": "...", "evidence": "...", "answer": "..."}'


@dataclass(frozen=True, slots=True)
class WorkedQuestion:
    """A question with its answer."""

    question: str  # as somebody asks it
    answer: str  # as it is to be answered
    evidence: str = ""  # what the answer rests on; "" for none
    pictures: tuple[Picture, ...] = ()  # shown to a model that sees, before the evidence


def read_worked_questions(path: Path) -> tuple[WorkedQuestion, ...]:
    """The worked questions of a file, JSON lines, at most `MOST`.

    Raises:
        UnreadableFile: It cannot be read, or holds none; or a picture of theirs cannot be shown.
    """
    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
        values = [json.loads(line) for line in lines[:MOST]]
        worked = tuple(
            WorkedQuestion(
                str(one["question"]),
                str(one["answer"]),
                str(one.get("evidence", "")),
                tuple(
                    _picture(path.parent / str(name))
                    for name in one.get("figures", ())[:MOST_PICTURES]
                ),
            )
            for one in values
        )
    except OSError as error:
        raise UnreadableFile.by_system(error.filename or path, error) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile(path, f"holds no worked questions ({error!r})", _REMEDY) from error
    if not worked:
        raise UnreadableFile(path, "holds no worked questions", _REMEDY)
    return worked


def _picture(path: Path) -> Picture:
    """A picture beside the file, for which `figures` names it."""
    if path.stat().st_size > MOST_FILE:
        raise UnreadableFile(path, f"has more than {MOST_FILE >> 20} MiB", "save it smaller")
    picture = safe_picture(path.read_bytes(), "")
    if picture is None:
        raise UnreadableFile(path, "is damaged, or no picture to show", "save it again as PNG")
    return picture
