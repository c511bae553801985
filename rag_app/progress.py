"""What a person sees while an evaluation works: a bar on standard error, if that is a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")


@contextmanager
def counted(items: Sequence[Item], *, doing: str, then: str = "") -> Iterator[Iterator[Item]]:
    """The same items, with a bar that counts them as they are taken.

    Args:
        items: What to count.
        doing: What is done with them.
        then: What goes on after the last was taken.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
        task = bar.add_task(doing, total=len(items))

        def taken() -> Iterator[Item]:
            for item in items:
                yield item
                bar.advance(task)
            if then:
                bar.update(task, description=then, total=None)

        yield taken()
