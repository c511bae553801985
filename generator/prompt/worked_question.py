"""Worked questions: how answers are to be written, shown to a model before it is asked.

As in Flamingo (Alayrac et al. 2022, arXiv 2204.14198, section 2.4), a few examples of a task stand
before it in the prompt. Here each is a turn of a conversation: the user shows evidence and asks,
the model answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from indexing.errors import UnreadableFile

MOST = 16
"""Worked questions of a file that are used."""

_REMEDY = 'write a line for each: {"question": "...", "evidence": "...", "answer": "..."}'


@dataclass(frozen=True, slots=True)
class WorkedQuestion:
    """A question with its answer.

    Attributes:
        question: As somebody asks it.
        answer: As it is to be answered.
        evidence: What the answer rests on; "" for none.
    """

    question: str
    answer: str
    evidence: str = ""


def read_worked_questions(path: Path) -> tuple[WorkedQuestion, ...]:
    """The worked questions of a file, JSON lines, at most `MOST`.

    Raises:
        UnreadableFile: It cannot be read, or holds none.
    """
    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
        values = [json.loads(line) for line in lines[:MOST]]
        worked = tuple(
            WorkedQuestion(str(one["question"]), str(one["answer"]), str(one.get("evidence", "")))
            for one in values
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnreadableFile(path, f"holds no worked questions ({error!r})", _REMEDY) from error
    if not worked:
        raise UnreadableFile(path, "holds no worked questions", _REMEDY)
    return worked
