"""Published scores on LongEmbed's six tasks, to stand beside one's own.

Percent: accuracy at 1 of passkey and needle, the mean over 256 to 32,768 tokens; nDCG@10 of the
others. Sources: Zhu et al., arXiv 2404.12096 (E5 and its extensions), and what MTEB publishes for
its LEMB tasks (MiniLM, BM25, GTE-ModernColBERT).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

LONGEMBED = ("passkey", "needle", "narrativeqa", "qmsum", "summscreenfd", "2wikimqa")
"""The tasks, in the paper's order."""

SCORES: dict[str, tuple[float, ...]] = {
    "all-MiniLM-L6-v2, 256 tokens": (23.3, 20.0, 18.3, 16.3, 54.8, 46.2),
    "E5-Base": (38.0, 28.5, 25.3, 23.8, 74.7, 55.8),
    "E5-Base-4k (PI, tuned)": (67.3, 41.5, 30.4, 35.7, 95.2, 69.2),
    "E5-RoPE": (38.5, 31.5, 24.6, 23.2, 66.6, 58.8),
    "E5-RoPE + SelfExtend 4k": (73.5, 53.5, 32.3, 39.1, 91.9, 74.6),
    "E5-Mistral 7B + NTK 32k": (93.8, 66.8, 49.8, 49.2, 97.1, 95.2),
    "GTE-ModernColBERT": (96.5, 93.3, 76.9, 79.9, 97.1, 99.9),
    "BM25 (bm25s, stemmed)": (100.0, 93.3, 73.2, 83.2, 97.8, 97.7),
}
"""By system, the tasks of `LONGEMBED`."""

NANO = (
    "NanoLongEmbed, a sample of these tasks: BM25 82.2, mLateOn 80.1 (means; the best published)."
)


def rows(tasks: Sequence[str]) -> list[list[str]]:
    """A row for each system: its name, its score on each task, and the mean over all six."""
    rows = []
    for name, scores in SCORES.items():
        by_task = dict(zip(LONGEMBED, scores, strict=True))
        cells = [f"{by_task[task]:.1f}" for task in tasks]
        rows.append([f"{name} (published)", *cells, f"{fmean(scores):.1f}"])
    return rows
