"""Whether a question asks for two things, or compares two: one quote rarely has both.

Words of English and German.
"""

from __future__ import annotations

import re

_ASKS = (
    r"(?:what|how|who|whom|whose|when|where|which|why"
    r"|wer|wem|wen|was|wie|wann|wo|woran|wohin|warum|welche\w*)"
)
_TWICE = re.compile(
    rf"\b{_ASKS}\b.*\b(?:and|und|or|oder),? (?:\w+ )?{_ASKS}\b"
    r"|\bcompare|\b(?:more|less|fewer|higher|lower|cheaper|dearer)\b.*\bthan\b|\bone by one\b"
    r"|\bvon .* (?:bis|auf) .*verändert",
    re.IGNORECASE | re.DOTALL,
)


def asks_twice(question: str) -> bool:
    """Whether a complete answer likely takes two quotes."""
    return _TWICE.search(question) is not None
