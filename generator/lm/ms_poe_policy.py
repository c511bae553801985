"""How a model reads positions while it answers: unchanged, or rescaled where that helps."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from generator.lm.calibration_record import find_record
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from generator.ms_poe.position_method import active_settings
from indexing.errors import InvalidRequest

if TYPE_CHECKING:
    from generator.lm.causal_lm import CausalModel

MS_POE = ("calibrated", "on", "off")
"""By the name a person types: on if calibration found that it helps; on in any case, with the
settings that calibration found best (the paper's where there was none); the untouched model. Where
LPES was found to be better, it takes the place of Ms-PoE."""


@dataclass(frozen=True, slots=True)
class MsPoEPolicy:
    """What is done to a model's positions, and why."""

    method: MsPoE | LPES | None  # the settings, or None for nothing
    reason: str  # for a person to read

    def __str__(self) -> str:
        """In one line."""
        return f"{describe(self.method) if self.method else 'off'} ({self.reason})"


def choose_policy(name: str, model: CausalModel) -> MsPoEPolicy:
    """What a setting of Ms-PoE means for a model.

    Raises:
        InvalidRequest: There is no setting of that name.
    """
    if name not in MS_POE:
        raise InvalidRequest(f"no setting {name!r} of Ms-PoE; use {', '.join(MS_POE)}")
    if name == "off":
        return MsPoEPolicy(None, "as asked")
    record = find_record(model.name, model.revision)
    if name == "on":
        return MsPoEPolicy((record and (record.method or record.tried)) or MsPoE(), "as asked")
    if record is None or not record.reason:
        return MsPoEPolicy(None, "never calibrated; rag-app calibrate finds out")
    return MsPoEPolicy(record.method, f"calibrated: {record.reason}")


@contextmanager
def apply_policy(policy: MsPoEPolicy, model: CausalModel) -> Iterator[None]:
    """Changes a model accordingly; one that is changed in just this way already is left alone.

    Raises:
        UnsupportedModel: Ms-PoE is not defined for the model.
        InvalidRequest: It is changed in another way.
    """
    if policy.method == active_settings(model.model):
        yield
    elif policy.method is None:
        raise InvalidRequest(
            f"the positions of {model.name} are rescaled by somebody else; leave that first"
        )
    else:
        with policy.method(model):
            yield


def describe(method: MsPoE | LPES) -> str:
    """Settings in a few words."""
    if isinstance(method, LPES):
        fifths = [method.scales[round(n / 4 * (len(method.scales) - 1))] for n in range(5)]
        return f"lpes {', '.join(f'{scale:.3g}' for scale in fifths)}, first to last layer"
    one = method.r_min == method.r_max
    ratios = f"{method.r_min:g}" if one else f"{method.r_min:g}-{method.r_max:g}"
    last = "" if method.last_layer is None else str(method.last_layer)
    return f"ms-poe {ratios}, {method.order}, layers {method.first_layer}-{last}"
