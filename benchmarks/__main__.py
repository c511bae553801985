"""`python -m benchmarks NAME`: each benchmark is a module with a `command`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from indexing.errors import RagAppError

NAMES = (
    "index-scaling",
    "scaled-search",
    "growth",
    "live",
    "shards",
    "cluster",
    "encoding",
    "peers",
    "limits",
    "cold-start",
    "warm-ask",
    "unchanged-files",
    "server-start",
    "serving",
    "generation",
    "follow-up",
    "requests",
    "table-rows",
    "folders",
    "latest-word",
    "register",
    "every",
    "aliases",
    "refresh",
    "pdf-text",
    "ocr",
    "batch-throughput",
    "batch-kills",
    "soak",
    "extras",
)


class Benchmarks(click.Group):
    """Commands by the names of their modules, imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of `benchmarks/README.md`."""
        return [*NAMES]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The `command` of a module; None for an unknown name."""
        if cmd_name not in NAMES:
            return None
        command: click.Command = import_module(f"benchmarks.{cmd_name.replace('-', '_')}").command
        return command

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a benchmark; an error of ours becomes one line and exit status 1."""
        try:
            return super().invoke(ctx)
        except RagAppError as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=Benchmarks)
def main() -> None:
    """Time, memory and throughput, measured from a checkout."""


if __name__ == "__main__":
    main(prog_name="python -m benchmarks")
