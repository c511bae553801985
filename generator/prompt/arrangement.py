"""Orders in which evidence stands in a prompt.

The best documents stand first and last, where most models find them best (Liu et al. 2023, "Lost in
the Middle", arXiv 2307.03172, section 4.2). The others are for measuring what order changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from generator.evidence import Span


def arrange(spans: Iterable[Span]) -> list[Span]:
    """Spans by document in reading order, those that touch made one, best documents at the ends."""
    documents: dict[str, list[Span]] = {}
    for span in spans:
        documents.setdefault(span.document.id, []).append(span)
    best_first = sorted(documents.values(), key=lambda group: -max(s.score for s in group))
    ends_first = best_first[0::2] + best_first[1::2][::-1]
    return [span for group in ends_first for span in merge_spans(group)]


def _best_first(placed: Sequence[Span]) -> list[Span]:
    return sorted(placed, key=lambda span: -span.score)


def _best_last(placed: Sequence[Span]) -> list[Span]:
    return _best_first(placed)[::-1]


def _best_within(placed: Sequence[Span]) -> list[Span]:
    """The best in the middle, the worst at both ends."""
    ranked = _best_first(placed)
    return ranked[1::2][::-1] + ranked[0::2]


ARRANGEMENTS: dict[str, Callable[[Sequence[Span]], list[Span]]] = {
    "ends": list,
    "best-first": _best_first,
    "best-last": _best_last,
    "best-within": _best_within,
}
"""Orders of evidence, by name; "ends" has the best documents first and last, as is usual."""


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Spans of one document in reading order; with only white space between, they become one."""
    joined: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        last = joined[-1] if joined else None
        if last and not span.document.text[last.end : span.start].strip():
            score = max(last.score, span.score)
            joined[-1] = Span(span.document, last.start, max(last.end, span.end), score)
        else:
            joined.append(span)
    return joined
