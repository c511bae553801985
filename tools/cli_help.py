"""Writes docs/cli.md from the help of every command, or checks that it is current.

usage: python tools/cli_help.py [--check]
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from rag_app.cli.main import main

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
WIDTH = 100
TOP = """\
# Commands

The help of every command, written by `make docs`; `make test` checks that it is current. How to set
defaults of your own: [configuration](configuration.md).

| exit status | |
|---|---|
| 0 | done |
| 1 | refused or failed; the reason is on standard error |
| 2 | wrong usage |
| 3 | done, but some files could not be read or some questions not answered; each was named |
| 70 | failed unexpectedly, a defect of rag-app; standard error names a log file with details |
| 130 | stopped by Ctrl-C |
"""


def page() -> str:
    """The whole page."""
    top = click.Context(
        main,
        info_name="rag-app",
        terminal_width=WIDTH,
        help_option_names=main.context_settings.get("help_option_names"),
    )
    return "\n".join([TOP, *map(_section, _contexts(top))])


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """The context of a command and of all commands below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None, f"{context.command_path} lists {name}, which is no command"
            yield from _contexts(click.Context(command, parent=context, info_name=name))


def _section(context: click.Context) -> str:
    words = context.command_path
    return f"## {words}\n\n```text\n{context.command.get_help(context)}\n```\n"


def check() -> int:
    """0 when the page is current, else 1 with the difference on standard error."""
    current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    difference = difflib.unified_diff(
        current.splitlines(), page().splitlines(), "docs/cli.md", "help", lineterm=""
    )
    lines = list(difference)
    if lines:
        print(*lines, "docs/cli.md is not current; run: make docs", sep="\n", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        sys.exit(check())
    PAGE.write_text(page(), encoding="utf-8")
