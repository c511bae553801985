"""Text of documents in Markdown, shown as it is."""

from __future__ import annotations

import re

# Characters with a meaning in Markdown, or in HTML within it: anywhere, and at the start of a line.
_MARKUP = re.compile(r"[\\`*_\[\]<>&~$|]|://")
_FIRST = re.compile(r"\A([#+=-]|\d+(?=[.)]))")


def plain(text: str) -> str:
    """Text in one line that Markdown shows as it is."""
    return first_escaped(escaped(" ".join(text.split())))


def escaped(text: str) -> str:
    """Text within a line."""
    return _MARKUP.sub(lambda mark: f"\\{mark[0]}", text)


def first_escaped(line: str) -> str:
    """A line whose beginning is no heading, item or rule."""
    first = _FIRST.match(line)
    if first is None:
        return line
    return f"{first[0]}\\{line[first.end() :]}" if first[0].isdigit() else f"\\{line}"
