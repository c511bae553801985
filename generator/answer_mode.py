"""Whether to quote or to generate when a request does not say: decided by measurement."""

from __future__ import annotations

from dataclasses import dataclass

from generator.answer import Mode
from generator.lm.calibration_record import find_records
from indexing.models.files import generator_revision
from indexing.models.server.server_name import is_remote


@dataclass(frozen=True, slots=True)
class AnswerMode:
    """How questions are answered, and why.

    Attributes:
        mode: "quote" for verbatim sentences only, "free" for a generated answer.
        reason: For a person to read.
    """

    mode: Mode
    reason: str

    def __str__(self) -> str:
        """In one line."""
        return f"{self.mode} ({self.reason})"


def usual(model: str) -> AnswerMode:
    """What a model is used for: free answers only where they were measured to be faithful.

    Nothing is loaded, and the model's files are looked for only where that may matter.

    Args:
        model: The name it is asked for by.

    Raises:
        ModelNotFound: It was measured to be faithful, and is not here any more.
    """
    measured = [each for each in find_records(model) if each.answer is not None]
    if not measured:
        return AnswerMode("quote", "generated answers of this model were never measured")
    if any(each.answer == "free" for each in measured):
        revision = "" if is_remote(model) else generator_revision(model)
        measured = [each for each in measured if each.revision == revision]
        if not measured:
            reason = "generated answers were measured of another revision of this model"
            return AnswerMode("quote", reason)
    return AnswerMode(measured[0].answer or "quote", f"measured: {measured[0].answer_reason}")
