"""Thresholds that keep a promise: at most a share of the answerable questions is withheld.

Split conformal prediction (Vovk et al. 2005; Angelopoulos and Bates, arXiv 2107.07511, section 1):
of n questions that are answered, with the probabilities p that some models give them, the threshold
for a share a is the k-th smallest p, k = floor(a (n + 1)). A further question of the same kind lies
below it with a probability of at most a, whatever the models are and however well they tell. It
holds for questions of the kind that it was made from, and the models that it was made with.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from math import floor
from pathlib import Path

from indexing.errors import InvalidRequest

PROMISED = 0.05
"""The share that is shown where none was asked for."""

NOT_CALIBRATED = "as calibrated on other texts (rag-app calibrate --part abstention)"

ABSTENTION_FILE = "abstention.json"
"""In the folder of a corpus."""


@dataclass(frozen=True, slots=True)
class AbstentionRecord:
    """Probabilities that were given to questions of which it is known whether they are answered."""

    models: str  # a digest of all that decides a probability
    questions: str  # where they come from, in words
    answered: tuple[float, ...]  # of questions that the documents answer, ascending
    unanswered: tuple[float, ...] = ()  # of others, ascending; they decide nothing
    day: str = ""  # when it was calibrated, ISO 8601

    def threshold(self, share: float) -> float:
        """The probability below which at most this share of answerable questions lies.

        0, so that nothing is withheld, where there are too few questions for the share.
        """
        rank = floor(share * (len(self.answered) + 1) + 1e-9)
        return sorted(self.answered)[rank - 1] if rank else 0.0

    def withheld(self, share: float) -> float | None:
        """Share of the unanswerable questions below that threshold; None where there are none."""
        below = self.threshold(share)
        found = [each < below for each in self.unanswered]
        return sum(found) / len(found) if found else None

    @property
    def least_share(self) -> float:
        """The least share that so many questions can promise."""
        return 1 / (len(self.answered) + 1)

    def describe(self, share: float) -> str:
        """One line for people."""
        size = f"{len(self.answered)} questions, {self.questions}, {self.day}"
        if share < self.least_share:
            return (
                f"never withheld: {share:.0%} needs {floor(1 / share)} answerable questions or "
                f"more ({size})"
            )
        line = f"withheld below {self.threshold(share):.2f}: at most {share:.0%} of the answerable"
        rate = self.withheld(share)
        others = f", and {rate:.0%} of {len(self.unanswered)} others" if rate is not None else ""
        return f"{line}{others} ({size})"


def check_share(share: float) -> None:
    """Refuse what is no share.

    Raises:
        InvalidRequest: It is not between 0 and 1.
    """
    if not 0 < share < 1:
        raise InvalidRequest(
            f"{share} is no share of questions; write a number between 0 and 1, such as 0.05"
        )


def save_abstention(record: AbstentionRecord, folder: Path) -> Path:
    """Keep it with a corpus, in place of the one before."""
    path = folder / ABSTENTION_FILE
    new = path.with_suffix(".new")
    new.write_text(json.dumps(asdict(record), indent=1), encoding="utf-8")
    new.replace(path)
    return path


def load_abstention(folder: Path) -> AbstentionRecord | None:
    """The record of a corpus; None where there is none, or none that can be read."""
    try:
        values = json.loads((folder / ABSTENTION_FILE).read_text("utf-8"))
        return AbstentionRecord(
            str(values["models"]),
            str(values["questions"]),
            tuple(sorted(map(float, values["answered"]))),
            tuple(sorted(map(float, values["unanswered"]))),
            str(values["day"] if "day" in values else values["made"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
