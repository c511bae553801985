"""Writes docs/cli.md from the help of every command, or checks that it is current.

usage: python tools/cli_help.py [--check]
"""

from __future__ import annotations

import difflib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from rag_app.cli.main import main

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cli.md"
SHARED_BY = 3
"""An option of at least so many commands, the same in each, is described once."""
AS_IN = 2
"""A command that shares at least so many other options with one above it refers to that one."""
TOP = """\
# Commands

The help of every command, written by `make docs`; `make test` checks that it is current. In a
terminal: `rag-app COMMAND --help`. Defaults of your own: [configuration](configuration.md).

| exit status | |
|---|---|
| 0 | done |
| 1 | refused or failed; the reason is on standard error |
| 2 | wrong usage |
| 3 | done, but some files could not be read or some questions not answered; each was named |
| 4 | `batch --refresh`: done, and an answer has other words now |
| 70 | failed unexpectedly, a defect of rag-app; standard error names a log file with details |
| 130 | stopped by Ctrl-C |
"""

Row = tuple[str, str]
"""An option with its value, and what it does."""


def page() -> str:
    """The whole page."""
    top = click.Context(
        main,
        info_name="rag-app",
        help_option_names=main.context_settings.get("help_option_names"),
    )
    contexts = list(_contexts(top))
    counts = Counter(row for context in contexts for row in _options(context))
    often = {
        row[0]: row for row, commands in reversed(counts.most_common()) if commands >= SHARED_BY
    }
    shared = sorted(often.values())
    homes = _homes(contexts, shared)
    sections = [_section(context, shared, homes) for context in contexts]
    return "\n".join([TOP, *sections, "## Shared options\n", *map(_line, shared), ""])


def _contexts(context: click.Context) -> Iterator[click.Context]:
    """The context of a command and of all commands below it."""
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None, f"{context.command_path} lists {name}, which is no command"
            yield from _contexts(click.Context(command, parent=context, info_name=name))


def _options(context: click.Context) -> list[Row]:
    """What help says of each option of a command but of `--help`."""
    helps = context.help_option_names
    options = [each for each in context.command.get_params(context) if each.opts != helps]
    rows = (each.get_help_record(context) for each in options if isinstance(each, click.Option))
    return [
        (name.replace(" RANGE", ""), " ".join(text.split())) for name, text in filter(None, rows)
    ]


def _homes(contexts: list[click.Context], shared: list[Row]) -> dict[str, dict[Row, str]]:
    """Of each command, its options that a command above it describes, with that command."""
    first: dict[Row, str] = {}
    homes = {}
    for context in contexts:
        path = context.command_path
        own = [row for row in _options(context) if row not in shared]
        above = {row: first[row] for row in own if row in first}
        counts = Counter(above.values())
        homes[path] = {row: home for row, home in above.items() if counts[home] >= AS_IN}
        first = dict.fromkeys(own, path) | first
    return homes


def _line(row: Row) -> str:
    name, text = row
    return f"- `{name}`: {_escaped(text)}"


def _escaped(text: str) -> str:
    """A text of help as Markdown, in one line; what stands in backticks stays as it is."""
    parts = " ".join(text.split()).split("`")
    parts[::2] = [re.sub(r"([*<])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def _section(context: click.Context, shared: list[Row], homes: dict[str, dict[Row, str]]) -> str:
    """Arguments, description, the command's own options, and the names of those that it shares."""
    command = context.command
    options = _options(context)
    elsewhere = homes[context.command_path]
    arguments = [each for each in command.collect_usage_pieces(context) if each != "[OPTIONS]"]
    usage = [f"`{' '.join([context.command_path, *arguments])}`\n"] if arguments else []
    lines = [f"## {context.command_path}\n", *usage, f"{_escaped(command.help or '')}\n"]
    if isinstance(command, click.Group):
        lines.append(f"Commands: {', '.join(_commands(context, command))}.\n")
    own = [row for row in options if row not in shared and row not in elsewhere]
    lines += [*map(_line, own), *([""] if own else [])]
    also = [*_as_in(elsewhere), *_shared([row for row in options if row in shared])]
    return "\n".join([*lines, *([" ".join(also) + "\n"] if also else [])])


def _commands(context: click.Context, group: click.Group) -> Iterator[str]:
    """The names of a group's commands; of the whole program, each with a link to its section."""
    place = _anchor(context.command_path)
    for name in group.list_commands(context):
        yield name if context.parent else f"[{name}](#{place}-{name})"


def _as_in(elsewhere: dict[Row, str]) -> Iterator[str]:
    """The options that commands above describe, a sentence for each of these commands."""
    for home in dict.fromkeys(elsewhere.values()):
        names = _names([row for row, command in elsewhere.items() if command == home])
        yield f"As in [{home}](#{_anchor(home)}): {names}."


def _shared(rows: list[Row]) -> Iterator[str]:
    """A sentence on those of the shared options, if any, that a command takes."""
    if rows:
        yield f"Also [{_names(rows)}](#shared-options)."


def _anchor(command: str) -> str:
    """What a link to the section of a command names."""
    return command.replace(" ", "-")


def _names(rows: list[Row]) -> str:
    """The names of options, without their values."""
    return ", ".join(f"`{name.split()[0].rstrip(',')}`" for name, _ in rows)


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
