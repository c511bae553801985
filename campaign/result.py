"""What an attack found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class Result:
    """Trials of one attack.

    Attributes:
        attack: Its name.
        trials: How many there were.
        outcomes: How many ended in each way that is as promised.
        failures: What broke a promise, with what repeats it.
    """

    attack: str
    trials: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def note(self, outcome: str) -> None:
        """Count a trial that ended as promised."""
        self.trials += 1
        self.outcomes[outcome] += 1

    def fail(self, what: str) -> None:
        """Count a trial that broke a promise."""
        self.trials += 1
        self.failures.append(what)

    def row(self) -> str:
        """A line of the table in docs/reliability.md."""
        ways = ", ".join(f"{name}: {count:,}" for name, count in self.outcomes.most_common())
        return f"| {self.attack} | {self.trials:,} | {len(self.failures):,} | {ways} |"
