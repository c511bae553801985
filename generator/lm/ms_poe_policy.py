"""How a model reads positions while it answers: as it was made, or rescaled where that helps it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from generator.lm.calibration_record import verdict_for
from generator.lm.causal_lm import CausalModel
from generator.ms_poe.method import MsPoE, active
from indexing.errors import InvalidRequest

MS_POE = ("calibrated", "on", "off")
"""By the name a person types: on if calibration found that it helps; on in any case, with the
settings that calibration found best (the paper's where there was none); the untouched model."""


@dataclass(frozen=True, slots=True)
class Positions:
    """What is done to a model's positions, and why.

    Attributes:
        method: The settings, or None for nothing.
        reason: For a person to read.
    """

    method: MsPoE | None
    reason: str

    def __str__(self) -> str:
        """In one line."""
        return f"{spelled(self.method) if self.method else 'off'} ({self.reason})"


def settled(name: str, model: CausalModel) -> Positions:
    """What a setting of Ms-PoE means for a model.

    Raises:
        InvalidRequest: There is no setting of that name.
    """
    if name not in MS_POE:
        raise InvalidRequest(f"no setting {name!r} of Ms-PoE; use {', '.join(MS_POE)}")
    if name == "off":
        return Positions(None, "as asked")
    found = verdict_for(model.name, model.revision)
    if name == "on":
        return Positions((found and (found.method or found.tried)) or MsPoE(), "as asked")
    if found is None or not found.reason:
        return Positions(None, "never calibrated; rag-app calibrate finds out")
    return Positions(found.method, f"calibrated: {found.reason}")


@contextmanager
def applied(positions: Positions, model: CausalModel) -> Iterator[None]:
    """Changes a model accordingly; one that is changed in just this way already is left alone.

    Raises:
        UnsupportedModel: Ms-PoE is not defined for the model.
        InvalidRequest: It is changed in another way.
    """
    if positions.method == active(model.model):
        yield
    elif positions.method is None:
        raise InvalidRequest(
            f"Ms-PoE is applied to {model.name} by somebody else; leave that first"
        )
    else:
        with positions.method(model):
            yield


def spelled(method: MsPoE) -> str:
    """Settings in a few words."""
    one = method.r_min == method.r_max
    ratios = f"{method.r_min:g}" if one else f"{method.r_min:g}-{method.r_max:g}"
    last = "" if method.last_layer is None else str(method.last_layer)
    return f"ms-poe {ratios}, {method.order}, layers {method.first_layer}-{last}"
