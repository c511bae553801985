"""What options are made of: kinds of values, tables of choices, and several options as one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar, cast

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]

AnyPath = click.Path(path_type=Path)
AnyFile = click.Path(path_type=Path, dir_okay=False)

# Written out, so that help loads no library; `test_options.py` compares the tables.
DECODINGS = ["concat", "rag-token", "rag-sequence", "quotes"]
EXTENSIONS = ["none", "pcw", "gp", "rp", "pi", "ntk", "self-extend"]
OCR_ENGINES = ["rapidocr", "tesseract"]
TUNED = "tuned:"
CLUSTERED = "ray://"
ENTROPY = "+entropy"


class ExtensionName(click.Choice):  # type: ignore[type-arg, unused-ignore]
    """A method of `EXTENSIONS`, or `tuned:FILE`: positions that `rag-app tune` has trained.

    With `+entropy` after its name, a method scales the attention queries as well.
    """

    def __init__(self) -> None:
        super().__init__(EXTENSIONS)

    def get_metavar(self, *_: Any, **__: Any) -> str:  # noqa: ANN401 - as in any click
        """Shows the file as well."""
        return f"[{'|'.join(EXTENSIONS)}|NAME{ENTROPY}|{TUNED}FILE]"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:  # noqa: ANN401 - click's own
        """A name as it is; the file is read with the encoder."""
        if isinstance(value, str) and value.startswith(TUNED) and value != TUNED:
            return value
        if isinstance(value, str) and value.endswith(ENTROPY):
            return super().convert(value.removesuffix(ENTROPY), param, ctx) + ENTROPY
        return super().convert(value, param, ctx)


class RenamedOption(click.Option):
    """An option whose former name still works, but is not shown in help."""

    def __init__(self, declarations: Sequence[str], *, former: str, **attributes: Any) -> None:  # noqa: ANN401 - click's own signature
        super().__init__(declarations, **attributes)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - a private type of click's
        """Accept both names."""
        super().add_to_parser(parser, ctx)
        former = copy(self)
        former.opts = [self.former]
        click.Option.add_to_parser(former, parser, ctx)


def together(*options: Option[Any]) -> Option[Any]:
    """Several options as one decorator; help shows them in this order."""

    def added(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def gathered(name: str, make: Callable[..., Any], *options: Option[Any]) -> Option[Any]:
    """Several options that reach the command as one parameter of that name.

    `make` makes its value of theirs; its parameters are called as they are.
    """
    parts = tuple(inspect.signature(make).parameters)

    def added(command: Command) -> Command:
        @wraps(command)
        def called(*positional: Any, **values: Any) -> Any:  # noqa: ANN401 - as in any click
            whole = make(**{part: values.pop(part) for part in parts})
            return command(*positional, **values, **{name: whole})

        return cast(Command, together(*options)(called))

    return added


Numbers = tuple[int, ...] | None


def numbers(*, least: int = 1) -> Callable[[click.Context, click.Parameter, str | None], Numbers]:
    """A callback that reads whole numbers with commas between them, each once."""

    def read(context: click.Context, option: click.Parameter, value: str | None) -> Numbers:
        words = value.split(",") if value else []
        try:
            values = tuple(dict.fromkeys(map(int, words)))
        except ValueError:
            values = (least - 1,)
        if values and min(values) < least:
            raise click.BadParameter(f"{value!r} is not a list such as 256,1024")
        return values or None

    return read


CLUSTER = "rag_app.cluster"
"""In a context's `meta`: the cluster that --corpus names, as HOST:PORT."""


class CorpusPlace(click.Path):
    """A folder, or ray://HOST:PORT/NAME, of which the cluster gives the folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(
        self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> Any:  # noqa: ANN401 - click's own
        """The folder as a path."""
        if not (isinstance(value, str) and value.startswith(CLUSTERED)):
            return super().convert(value, param, ctx)
        from rag_app.corpus.cluster.address import CorpusAddress

        address = CorpusAddress.of(value)
        if ctx is not None:
            ctx.meta[CLUSTER] = address.cluster
        return address.folder()


class ClusterPlace(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """HOST:PORT of a Ray cluster, written as that or as ray://HOST:PORT."""

    name = "HOST:PORT"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """The address as Ray takes it."""
        return str(value).removeprefix(CLUSTERED).rstrip("/")
