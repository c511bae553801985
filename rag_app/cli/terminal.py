r"""Text on its way to a terminal. What documents, files and models hold is shown, never obeyed.

Control characters, escape sequences and bidirectional controls become visible escapes such as
`\x1b`, so that no text can move the cursor, change its colour or title, or reverse its order.
"""

from __future__ import annotations

import re
import sys

import click

from generator.answer import Mode
from rag_app.short_answer import at_markers

_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb]"
)
_LINES = re.compile("[\t\n]")
# The marks that close a piece of an answer are its own; whatever stands before them is not.
_OWN_MARKS = re.compile(r"(?: \[\d{1,3}\])?(?: \[unsupported\])?\n*\Z")
_OTHER_MARKS = re.compile(r"\[(?=(?:\d{1,3}|unsupported)\])")


def escape(text: str) -> str:
    """Text whose line feeds and tabs work, and no other control character does."""
    return _CONTROLS.sub(_escape_one, text)


def field(text: str, *, longest: int = 200) -> str:
    """Text within a line, such as a title or a speaker: it can begin no line of its own.

    At most `longest` characters are shown; more would push the rest of the line out of sight.
    """
    line = _LINES.sub(_escape_one, escape(text))
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def flow(text: str) -> str:
    """Text to be filled into lines: each run of white space becomes one space."""
    return escape(" ".join(text.split()))


def document_text(text: str) -> str:
    r"""Text of a document, in which nothing looks like a mark of an answer: `\[2]`."""
    return escape(_OTHER_MARKS.sub(r"\\[", text))


def answer_piece(text: str) -> str:
    r"""A piece of an answer, with its own markers as they are and others as `\[2]`.

    Args:
        text: As it was streamed. Its own marks stand at its end (`insert_markers`, `format_quote`);
            a "[2]" before them was in the document.
    """
    own = _OWN_MARKS.search(text)
    assert own is not None  # it may be empty
    return document_text(text[: own.start()]) + own[0]


def answer_text(text: str, mode: Mode) -> str:
    r"""As `answer_piece`, for a whole answer or what there is of it."""
    if mode == "free":  # the model's own marks were left out of it
        return escape(text)
    return "".join(
        document_text(part) + ("" if marker is None else f"[{marker}]")
        for part, marker in at_markers(text, mode)
    )


def count_noun(number: int, noun: str) -> str:
    """A number of things: 1 document, 2 documents."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def say(line: object = "", *, error: bool = False) -> None:
    """Print text, control characters escaped."""
    click.echo(escape(str(line)), err=error)


def notify(line: str) -> None:
    """Print a message on standard error, control characters escaped."""
    say(line, error=True)


def say_text(text: str) -> None:
    """Print a text: escaped on a terminal, else exactly as it is, so that a file holds it."""
    if sys.stdout.isatty():
        say(text)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(errors="replace"))
    sys.stdout.buffer.flush()


def say_json(text: str) -> None:
    """Print JSON; control characters become escapes that read back as they were."""
    click.echo(_CONTROLS.sub(lambda one: f"\\u{ord(one[0]):04x}", text))


def be_lenient() -> None:
    """Let standard output print any character: what its encoding lacks is escaped."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def is_unicode() -> bool:
    """Whether standard output can print any character as it is."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "").startswith("utf")


def _escape_one(match: re.Match[str]) -> str:
    code = ord(match[0])
    short = {9: "\\t", 10: "\\n", 13: "\\r"}
    return short.get(code) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
