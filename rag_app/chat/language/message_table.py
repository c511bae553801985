"""Messages in files: their texts where they stand, and beside them what each is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from indexing.message import Message, restored, stored

_TABLE = "messages"


def with_table(values: dict[str, Any]) -> dict[str, Any]:
    """Values for JSON, with a table of the messages among them if there are any."""
    table = {str(one): stored(one) for one in _messages(values) if one.arguments}
    return {**values, _TABLE: table} if table else values


def without_table(values: Any) -> Any:  # noqa: ANN401 - JSON
    """What `with_table` was given; where the table is damaged, its texts are no messages.

    Files of earlier versions have none.
    """
    if not isinstance(values, dict) or _TABLE not in values:
        return values
    try:
        table = {text: restored(one) for text, one in values.pop(_TABLE).items()}
    except (AttributeError, ValueError):
        return values
    return _replaced(values, {text: one for text, one in table.items() if one == text})


def _messages(values: object) -> Iterator[Message]:
    if isinstance(values, Message):
        yield values
    elif isinstance(values, dict | list | tuple):
        for one in values.values() if isinstance(values, dict) else values:
            yield from _messages(one)


def _replaced(values: Any, table: dict[str, str]) -> Any:  # noqa: ANN401 - JSON
    if isinstance(values, str):
        return table.get(values, values)
    if isinstance(values, dict):
        return {name: _replaced(one, table) for name, one in values.items()}
    return [_replaced(one, table) for one in values] if isinstance(values, list) else values
