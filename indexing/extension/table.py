"""The methods by name, and the kinds of positions that each is defined for.

The classes are in `METHODS` of `indexing.extension`. This stands below them, because a method that
is refused names those that are not.
"""

from __future__ import annotations

from indexing.nn.architecture import Architecture, Positions

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


def supported_by(arch: Architecture) -> tuple[str, ...]:
    """The names of the methods that are defined for a kind of positions."""
    return tuple(name for name, positions in WORKS_ON.items() if arch.positions in positions)


def refusal(name: str, arch: Architecture) -> str:
    """The message for a model that a method is not defined for, with those that are."""
    names = ", ".join(supported_by(arch))
    return (
        f"{name} is not defined for {arch.class_name}, which has {arch.positions} positions; "
        f"it supports: {names}"
    )
