"""The words that answer, in bold on a terminal; plain where it is none or has no colours."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable

import click

from rag_app.short_answer import Emphasis

Clean = Callable[[str], str]
"""Makes text fit for a terminal: no control character of it may work."""


def in_bold(cut: Emphasis, clean: Clean) -> str:
    """A text with its words in bold; `click.echo` takes that out where there is no terminal."""
    parts = _cleaned(cut, clean)
    return f"{parts.before}{_bold(parts.words)}{parts.after}"


def filled(
    quote: Emphasis, clean: Clean, *, indent: int = 0, width: int = 100, end: str = ""
) -> str:
    """A quote in lines of at most `width` columns, its words in bold.

    White space becomes single spaces. Each line has `indent` columns before it, which count, too; a
    clean `end` follows the quote.
    """
    cut = _cleaned(quote.in_one_line, clean)
    space = " " * indent
    text = textwrap.fill(cut.text + end, width, initial_indent=space, subsequent_indent=space)
    first = _visible(cut.before)
    last = first + _visible(cut.words)
    lines, at = [], 0
    for line in text.split("\n"):
        lines.append(_bold_between(line, first - at, last - at))
        at += _visible(line)
    return "\n".join(lines)


def _cleaned(cut: Emphasis, clean: Clean) -> Emphasis:
    """Each part cleaned, or nothing in bold where the parts would then not be those of the text."""
    parts = Emphasis(clean(cut.before), clean(cut.words), clean(cut.after))
    whole = clean(cut.text)
    return parts if parts.text == whole else Emphasis(whole)


def _bold_between(line: str, first: int, last: int) -> str:
    """A line whose characters from `first` to `last` are bold; white space does not count."""
    visible = [at for at, character in enumerate(line) if not character.isspace()]
    inside = visible[max(first, 0) : max(last, 0)]
    if not inside:
        return line
    start, end = inside[0], inside[-1] + 1
    return f"{line[:start]}{_bold(line[start:end])}{line[end:]}"


def _visible(text: str) -> int:
    return sum(not character.isspace() for character in text)


def _bold(text: str) -> str:
    if not text or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return click.style(text, bold=True)
