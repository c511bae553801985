"""Figures of a judged verifier: ROC AUC, recall at 95 % precision, shares at thresholds.

    python training/verifier/figures.py claims.jsonl

A claim's score is the highest probability of its excerpts; with the rules' veto, of those without
one. Two swapped or misplaced claims stand beside about one true one, so precision is weighted to
one false claim for each true one.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

SWAPPED = frozenset({"name", "roles", "number", "date", "opposite", "negation"})


def score(line: dict[str, Any], *, veto: bool) -> float:
    """The highest probability of a claim's excerpts."""
    vetoes = line.get("vetoes", [False] * len(line["probabilities"])) if veto else []
    pairs = zip(line["probabilities"], vetoes or [False] * 99, strict=False)
    return max((each for each, out in pairs if not out), default=0.0)


def auc(true: np.ndarray[Any, Any], false: np.ndarray[Any, Any]) -> float:
    """Probability that a true claim scores higher than a false one; ties count half."""
    wins = (true[:, None] > false).mean() + 0.5 * (true[:, None] == false).mean()
    return float(wins)


def recall_at(true: np.ndarray[Any, Any], false: np.ndarray[Any, Any], precision: float) -> float:
    """Most true claims over a threshold at which that share of what passes is true."""
    best = 0.0
    for threshold in np.unique(true[true > 0]):
        found, wrong = (true >= threshold).mean(), (false >= threshold).mean()
        if found / (found + wrong) >= precision:
            best = max(best, float(found))
    return best


@click.command()
@click.argument("lines", type=click.Path(path_type=Path, exists=True))
@click.option("--false", "most", default=0.02, show_default=True, help="Swapped that may pass.")
def main(lines: Path, most: float) -> None:
    """Print the figures."""
    rows = [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    for source in dict.fromkeys(row["source"] for row in rows):
        of = [row for row in rows if row["source"] == source]
        for veto in (False, True):
            true = np.array([score(row, veto=veto) for row in of if row["true"]])
            false = {
                kind: np.array([score(row, veto=veto) for row in of if row["kind"] == kind])
                for kind in sorted({row["kind"] for row in of if not row["true"]})
            }
            everything = np.concatenate(list(false.values()))
            parts = [each for kind, each in false.items() if kind in SWAPPED]
            swapped = np.concatenate(parts) if parts else everything
            candidates = np.unique(np.append(true, 1.0))
            limit = min(
                each for each in candidates if (swapped >= each).mean() <= most or each == 1
            )
            print(
                f"{source}{', veto' if veto else ''}: {len(true)} true, {len(everything)} false, "
                f"AUC {auc(true, everything):.3f}, of swapped {auc(true, swapped):.3f}, recall at "
                f"95 % precision {recall_at(true, everything, 0.95):.3f}, threshold {limit:.3f}: "
                f"{(true >= limit).mean():.3f} of true, {(everything >= limit).mean():.3f} of false"
            )
            if veto and "quoted" in of[0]:
                quoted = {
                    kind: np.mean([row["quoted"] for row in of if row["kind"] == kind])
                    for kind in ["reference", *false]
                }
                print(
                    "    by rules:", {kind: round(float(each), 3) for kind, each in quoted.items()}
                )
            for kind, each in false.items():
                print(
                    f"    {kind}: n {len(each)}, AUC {auc(true, each):.3f}, "
                    f"passed {(each >= limit).mean():.3f}"
                )


if __name__ == "__main__":
    main()
