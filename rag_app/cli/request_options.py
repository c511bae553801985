"""The options of the fields of a request, from their one table."""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

import click

from rag_app.cli.option_types import AnyPath, Command, Option, RenamedOption, together
from rag_app.request_fields import Act, RequestField, Surface, fields_of, request_field

Fields = dict[str, Any]
"""The values of fields of a request, by name."""


def field_option(one: RequestField, **changes: Any) -> Option[Any]:  # noqa: ANN401 - click's own
    """The option of a field of a request."""
    usual = one.default if one.choices and one.default is not None else None
    attributes: dict[str, Any] = {
        "type": _option_type(one),
        "help": one.help,
        "default": None if one.kind is list else one.default,
        "metavar": one.metavar,
        "multiple": one.kind is tuple,
        "show_default": one.kind is int or usual is not None,
    }
    if one.former:
        attributes |= {"cls": RenamedOption, "former": one.former}
    if one.kind is tuple:
        attributes["help"] = f"{one.help}  Repeatable."
    return click.option(one.option, one.name, **(attributes | changes))


def _option_type(one: RequestField) -> click.ParamType[Any] | None:
    if one.choices:
        return click.Choice(one.choices)
    if one.kind is list:
        return AnyPath
    if one.kind is float:
        return click.FloatRange(one.least, one.most)
    return click.IntRange(int(one.least or 0)) if one.kind is int else None


def with_fields(surface: Surface, act: Act, *names: str) -> Option[Any]:
    """The options of the fields of a request, which reach the command as one mapping, `fields`.

    Only those named, if any are.
    """
    taken = [one for one in fields_of(surface, act) if not names or one.name in names]

    def added(command: Command) -> Command:
        @wraps(command)
        def called(*positional: Any, **values: Any) -> Any:  # noqa: ANN401 - as in any click
            fields = {one.name: values.pop(one.name) for one in taken}
            if fields.get("history"):
                from rag_app.batch.questions import read_turns

                fields["history"] = read_turns(fields["history"])
            return command(*positional, fields=fields, **values)

        return cast(Command, together(*map(field_option, taken))(called))

    return added


LIMITS_OF_LISTS = ("collections", "since", "until", "participants")
"""The fields that limit a list of documents."""

with_k = field_option(request_field("k"))
with_collections = field_option(request_field("collections"))
