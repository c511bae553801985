"""The result of a model's calibration: whether Ms-PoE or LPES helps it, and how it answers best.

A verdict belongs to a model's name and revision. A person's own verdicts lie in the user's data
folder and come first; that of the packaged model ships with this program.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from generator.answer import Mode
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from indexing.errors import InvalidRequest
from indexing.models.files import generator_revision
from indexing.models.server.server_name import is_remote

SHIPPED = Path(__file__).parent / "calibration_records"
_FORM = 1


@dataclass(frozen=True, slots=True)
class CalibrationRecord:
    """The outcome of a calibration."""

    model: str  # the name that the model was asked for by
    revision: str  # what pins its files
    method: MsPoE | LPES | None = None  # settings that helped, or None: leave the model as it is
    reason: str = ""  # why, in a sentence; "" where that was not measured
    held_out: dict[str, Any] = field(default_factory=dict)  # on probes the choice was not made on
    tried: MsPoE | LPES | None = None  # the best settings that were found, helpful or not
    answer: Mode | None = None  # how it answers when nobody says; None: not measured
    answer_reason: str = ""  # why, in a sentence
    answers: dict[str, Any] = field(default_factory=dict)  # the figures, by way to answer


def find_record(model: str, revision: str) -> CalibrationRecord | None:
    """What is known of a model, or None where it was never calibrated."""
    for folder in (user_folder(), SHIPPED):
        record = _read(folder / _file_name(model, revision))
        if record is not None and (record.model, record.revision) == (model, revision):
            return record
    return None


def find_records(model: str) -> list[CalibrationRecord]:
    """What is known of a model by its name, of any revision; a person's own verdicts first."""
    files = [file for folder in (user_folder(), SHIPPED) for file in sorted(folder.glob("*.json"))]
    records = [_read(file) for file in files]
    return [each for each in records if each is not None and each.model == model]


def save_record(record: CalibrationRecord, folder: Path | None = None) -> Path:
    """Write a verdict to the user's folder, or another; what was there is replaced.

    Raises:
        InvalidRequest: The folder cannot be written to.
    """
    path = (folder or user_folder()) / _file_name(record.model, record.revision)
    values = {"form": _FORM, **asdict(record)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(values, indent=2) + "\n", "utf-8")
        part.replace(path)
    except OSError as error:
        raise InvalidRequest(
            f"{path}: cannot be written ({error.strerror}); set $RAG_APP_DATA to another folder"
        ) from error
    return path


def user_folder() -> Path:
    """Where a person's verdicts lie: `$RAG_APP_DATA`, else the platform's folder for data."""
    from platformdirs import user_data_dir

    base = os.environ.get("RAG_APP_DATA") or user_data_dir("rag-app", appauthor=False)
    return Path(base) / "verdicts"  # their name on disk


def _file_name(model: str, revision: str) -> str:
    safe = re.sub(r"[^\w.-]+", "_", f"{Path(model).name}-{revision}", flags=re.ASCII)
    return f"{safe[:150]}.json"


def _read(path: Path) -> CalibrationRecord | None:
    """A verdict from a file; None where there is none, or not one of ours."""
    try:
        values = json.loads(path.read_text("utf-8"))
        if values["form"] != _FORM:
            return None
        return CalibrationRecord(
            str(values["model"]), str(values["revision"]), _method(values["method"]),
            str(values["reason"]), dict(values["held_out"]), _method(values.get("tried")),
            _mode(values.get("answer")), str(values.get("answer_reason", "")),
            dict(values.get("answers", {})),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, AttributeError, InvalidRequest):
        return None


def _mode(value: object) -> Mode | None:
    if value not in {"quote", "free", None}:
        raise ValueError(value)
    return "quote" if value == "quote" else "free" if value == "free" else None


def _method(values: dict[str, Any] | None) -> MsPoE | LPES | None:
    if values is None:
        return None
    if "scales" in values:
        return LPES(scales=tuple(map(float, values["scales"])))
    places = tuple(tuple(map(float, row)) for row in values["places"])
    return MsPoE(**{**values, "places": places})


@dataclass(frozen=True, slots=True)
class AnswerMode:
    """How questions are answered, and why."""

    mode: Mode  # "quote" for verbatim sentences only, "free" for a generated answer
    reason: str  # for a person to read

    def __str__(self) -> str:
        """In one line."""
        return f"{self.mode} ({self.reason})"


def usual(model: str) -> AnswerMode:
    """What a model is used for: free answers only where they were measured to be faithful.

    Nothing is loaded, and the model's files are looked for only where that may matter.

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
