"""What an attack found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

Progress = Callable[[int, int], None]
"""Called with trials done, and their number."""


@dataclass(slots=True)
class Result:
    """Trials of one attack.

    Attributes:
        attack: Its name.
        planned: How many trials there are to be.
        progress: Called after each.
        trials: How many there were.
        outcomes: How many ended in each way that is as promised.
        failures: What broke a promise, with what repeats it.
    """

    attack: str
    planned: int = 0
    progress: Progress | None = None
    trials: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def note(self, outcome: str) -> None:
        """Count a trial that ended as promised."""
        self.outcomes[outcome] += 1
        self._count()

    def fail(self, what: str) -> None:
        """Count a trial that broke a promise."""
        self.failures.append(what)
        self._count()

    def _count(self) -> None:
        self.trials += 1
        if self.progress is not None:
            self.progress(self.trials, self.planned)

    def row(self) -> str:
        """A line of the table in docs/notebook/reliability.md."""
        ways = ", ".join(f"{name}: {count:,}" for name, count in self.outcomes.most_common())
        return f"| {self.attack} | {self.trials:,} | {len(self.failures):,} | {ways} |"
