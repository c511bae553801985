"""Progress bars on standard error, shown only if that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

Item = TypeVar("Item")
Advance = Callable[[float, float | None, str], None]
"""Called with what is done, the total (None while unknown), and a note behind the bar."""

WINDOW = 3600.0  # seconds of progress from which the time left is estimated


@contextmanager
def bar(doing: str, *, percent: bool = False) -> Iterator[Advance]:
    """A bar behind what is done; yields what to call with its progress.

    It shows "3/10", or a percentage.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    count: ProgressColumn = TaskProgressColumn() if percent else MofNCompleteColumn()
    text, note = TextColumn("{task.description}"), TextColumn("{task.fields[note]}")
    with Progress(
        *(text, BarColumn(), count, TimeRemainingColumn(), note),
        console=console,
        transient=True,
        disable=not console.is_terminal,
        speed_estimate_period=WINDOW,
    ) as progress:
        task = progress.add_task(doing, total=None, note="")

        def advance(done: float, total: float | None, note: str = "") -> None:
            progress.update(task, completed=done, total=total, note=note)

        yield advance


@contextmanager
def steps(doing: str) -> Iterator[Callable[[int, int], None]]:
    """A bar; yields what to call with steps done, and their number."""
    with bar(doing) as advance:
        yield lambda done, total: advance(done, total, "")


@contextmanager
def track(items: Sequence[Item], *, doing: str, then: str = "") -> Iterator[Iterator[Item]]:
    """The same items, with a bar that counts them as they are taken.

    After the last was taken it has the note `then`, for work that follows.
    """
    with bar(doing) as advance:

        def count() -> Iterator[Item]:
            advance(0, len(items), "")
            for done, item in enumerate(items, 1):
                yield item
                advance(done, len(items), "")
            if then:
                advance(len(items), len(items), then)

        yield count()
