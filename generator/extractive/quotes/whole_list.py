"""A quote of an item of a list, made longer to the whole list.

"What should be in the box?" is answered by all items, each of which alone is a poor answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from generator.evidence import Sentence

_ITEM = r"[ \t]*(?:(?P<bullet>[-*+\u2022\u2013])|\(?(?:\d{1,2}|[a-z])[.)])[ \t]+(?=\S)"
_MORE = _ITEM.replace("?P<bullet>", "?:")
_LISTED = re.compile(rf"^{_ITEM}.*(?:\n(?!{_MORE})[ \t]*\S.*)*", re.MULTILINE)
_WORDS = 90  # of a list that is quoted

_List = list[tuple[int, int]]


def whole_list(quote: Sentence) -> Sentence:
    """The quote with the other items of its list, up to a limit; itself where it is no item.

    An item begins with a bullet, a number or a letter, and may go on in the lines below it. Those
    after the quote come first; what leads into the list is no part of it.
    """
    if quote.utterance is not None:
        return quote
    items = next((each for each in _lists(quote.document.text) if _is_in(quote, each)), [])
    later = (replace(quote, end=end) for _, end in items if end > quote.end)
    quote = _longest(quote, later)
    earlier = (replace(quote, start=start) for start, _ in reversed(items) if start < quote.start)
    return _longest(quote, earlier)


def _longest(quote: Sentence, longer: Iterable[Sentence]) -> Sentence:
    """The last of ever longer quotes before one is too long; the quote where the first is."""
    for one in longer:
        if len(one.text.split()) > _WORDS:
            break
        quote = one
    return quote


def _is_in(quote: Sentence, items: _List) -> bool:
    return any(start <= quote.start < end for start, end in items)


def _lists(text: str) -> Iterator[_List]:
    """The lists of a text: first character and one past the last of each of their items."""
    items: _List = []
    kind = False
    for match in _LISTED.finditer(text):
        bullet = match["bullet"] is not None
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        if items and (text[items[-1][1] : start].strip() or bullet != kind):
            yield items
            items = []
        kind = bullet
        items.append((start, match.end()))
    yield items
