"""The methods by name, and the kinds of positions that each is defined for.

The classes are in `METHODS` of `indexing.extension`. This stands below them, because a method that
is refused names those that are not.
"""

from __future__ import annotations

from indexing.nn.architecture import Family, Positions

ANY: frozenset[Positions] = frozenset({"absolute", "rotary", "other"})
WORKS_ON: dict[str, frozenset[Positions]] = {
    "none": ANY,
    "pcw": ANY,
    "gp": frozenset({"absolute", "rotary"}),
    "rp": frozenset({"absolute"}),
    "pi": frozenset({"absolute", "rotary"}),
    "ntk": frozenset({"rotary"}),
    "self-extend": frozenset({"rotary"}),
}


def supported_by(family: Family) -> tuple[str, ...]:
    """The names of the methods that are defined for a kind of positions."""
    return tuple(name for name, positions in WORKS_ON.items() if family.positions in positions)


def refusal(name: str, family: Family) -> str:
    """The message for a model that a method is not defined for, with those that are."""
    names = ", ".join(supported_by(family))
    return (
        f"{name} is not defined for {family.architecture}, which has {family.positions} positions; "
        f"it supports: {names}"
    )
