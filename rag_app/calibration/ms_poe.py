"""Does Ms-PoE help a model? Tried on one half of the probes, judged on the other.

Published gains do not carry over from model to model (and neither does the harm), so each is
measured by itself: ranges of ratios, layers and orders compete on probes of three kinds, the best
meets the untouched model on probes that it was not chosen on, and "leave it off" is a legal end.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from generator.lm.calibration_record import CalibrationRecord, find_record
from generator.lm.causal_lm import CausalModel
from generator.lm.ms_poe_policy import describe
from generator.ms_poe.architectures import recognise
from generator.ms_poe.method import MsPoE, measure_places
from indexing.errors import InvalidRequest
from rag_app.calibration.score_file import ScoreFile, key, score_file
from rag_app.datasets.haystack import Haystack
from rag_app.datasets.probes import KINDS, Material, Probe, make_probes, places
from rag_app.evaluation import bootstrap
from rag_app.evaluation.answer_likelihood import score_answer
from rag_app.evaluation.positions import Curve, curve
from rag_app.progress import counted

ORDER_PROMPTS = 12
FINALISTS = 3

Scores = npt.NDArray[np.float64]
"""(probes, places, 2): whether exact, and the mean log-probability of the answer's tokens."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is asked.

    Attributes:
        lengths: Tokens of evidence, about.
        searched: Probes of each kind and length that settings are chosen on.
        judged: Probes of each kind and length that decide about the chosen ones.
        positions: Places of the evidence.
        seed: Of all that is made up.
    """

    lengths: tuple[int, ...] = (800,)
    searched: int = 4
    judged: int = 12
    positions: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.searched, self.judged, *self.lengths) < 1 or self.positions < 2:
            raise InvalidRequest("calibration needs probes, lengths, and at least two positions")


@dataclass(frozen=True, slots=True)
class Trial:
    """What settings gave on the probes that they were chosen on.

    Attributes:
        method: The settings.
        probes: How many it was tried on; settings that fall behind are tried on fewer.
        gain: Mean gain in log-probability of the answers, over all places.
        worst: The same at the place where the untouched model is worst.
        least: The same at the place that gains least.
    """

    method: MsPoE
    probes: int
    gain: float
    worst: float
    least: float

    @property
    def merit(self) -> float:
        """What settings are chosen by: a gain at the worst place that nothing is lost for."""
        return self.worst + min(self.least, 0.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The end of it.

    Attributes:
        verdict: What the application uses from now on.
        trials: Everything tried, best first.
        places: Where the evidence stood.
        curves: Accuracy by place on the held-out probes, off and with the best settings.
    """

    verdict: CalibrationRecord
    trials: tuple[Trial, ...]
    places: tuple[float, ...]
    curves: tuple[Curve, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def calibrate(model: CausalModel, hay: Haystack, plan: Plan, *, kept: Path) -> Calibration:
    """Try, choose, judge.

    Args:
        model: The model, untouched.
        hay: Text that probes are made of.
        plan: How much is asked.
        kept: A file for every score, so that a run that was stopped goes on where it was.

    Raises:
        UnsupportedModel: Ms-PoE is not defined for the model.
    """
    recognise(model.model)
    at = places(plan.positions)
    searched = _probes(model, hay, plan, plan.searched, seed=2 * plan.seed)
    judged = _probes(model, hay, plan, plan.judged, seed=2 * plan.seed + 1)
    with score_file(kept) as memory:
        asking = _Asking(model, at, memory)
        trials = _raced(asking, searched)
        best = trials[0]
        off = asking.scores(None, judged, "Judging: off")
        on = asking.scores(best.method, judged, "Judging: the best settings")
    verdict = _verdict(model, best.method, off, on, at)
    curves = tuple(
        curve(name, max(plan.lengths), found[..., 0])
        for name, found in (("off", off), (describe(best.method), on))
    )
    return Calibration(verdict, tuple(trials), at, curves)


def candidates(model: CausalModel, usual: tuple[tuple[float, ...], ...]) -> list[MsPoE]:
    """What is tried first; all have a static order, as caches of shared beginnings need one."""
    depth = len(recognise(model.model).layers)
    half = depth // 2
    flat = [MsPoE(r_min=r, r_max=r, order="uniform") for r in (0.92, 1.06, 1.12, 1.25)]
    spread = [
        MsPoE(r_min=low, r_max=high, order="calibrated", places=usual)
        for low, high in ((1.0, 1.1), (1.0, 1.2), (1.0, 1.5), (1.2, 1.8))
    ]
    middle = MsPoE(r_min=1.2, r_max=1.2, order="uniform")
    parts = [replace(middle, first_layer=half), replace(middle, first_layer=0, last_layer=half - 1)]
    return [*flat, *spread, *parts]


class _Asking:
    """Asks probes, and remembers every score."""

    def __init__(self, model: CausalModel, at: Sequence[float], memory: ScoreFile) -> None:
        self.model, self.at, self.memory = model, at, memory

    def scores(self, method: MsPoE | None, probes: Sequence[Probe], doing: str) -> Scores:
        """Of each probe at each place, whether exact, and the log-probability."""
        applied: Any = nullcontext() if method is None else method(self.model)
        pairs = [(probe, place) for probe in probes for place in self.at]
        found = []
        with applied, counted(pairs, doing=doing) as asked:
            for probe, place in asked:
                name = _key(method, probe, place)
                if name not in self.memory.known:
                    score = score_answer(self.model, probe, place)
                    self.memory.add(name, score.exact, score.likelihood)
                found.append(self.memory.known[name])
        return np.array(found, dtype=np.float64).reshape(len(probes), len(self.at), 2)


def _raced(asking: _Asking, probes: Sequence[Probe]) -> list[Trial]:
    """Every candidate on half of the probes; the best few, and parts of them, on all."""
    prompts = [
        list(probe.prompt(asking.model.chat, 0.5).ids)
        for probe in probes[:: max(1, len(probes) // ORDER_PROMPTS)]
    ]
    found = measure_places(asking.model, prompts)
    usual = tuple(tuple(round(place, 2) for place in row) for row in found)
    off = asking.scores(None, probes, "The untouched model")
    few = probes[::2]
    entered = candidates(asking.model, usual)
    first = [
        _trial(method, asking.scores(method, few, f"Trying {n} of {len(entered)}"), off[::2])
        for n, method in enumerate(entered, start=1)
    ]
    first.sort(key=lambda trial: -trial.merit)
    again = [
        _trial(trial.method, asking.scores(trial.method, probes, f"Again {n} of {FINALISTS}"), off)
        for n, trial in enumerate(first[:FINALISTS], start=1)
    ]
    again.sort(key=lambda trial: -trial.merit)
    return [*again, *first[FINALISTS:]]


def _trial(method: MsPoE, found: Scores, off: Scores) -> Trial:
    gains = (found - off)[..., 1].mean(axis=0)
    worst = int(off[..., 1].mean(axis=0).argmin())
    return Trial(method, len(found), float(gains.mean()), float(gains[worst]), float(gains.min()))


def _verdict(
    model: CausalModel, method: MsPoE, off: Scores, on: Scores, at: Sequence[float]
) -> CalibrationRecord:
    """On, where no place loses and the worst surely gains; else off."""
    both = np.stack((off[..., 0], on[..., 0]), axis=1)  # (probes, 2, places)

    def gained(of: bootstrap.Statistic) -> bootstrap.Statistic:
        return lambda pairs: of(pairs[:, 1]) - of(pairs[:, 0])

    before, after = off[..., 0].mean(axis=0), on[..., 0].mean(axis=0)
    worst = gained(bootstrap.worst)(both)
    low, high = bootstrap.interval(both, gained(bootstrap.worst))
    mean_low, mean_high = bootstrap.interval(both, gained(bootstrap.mean))
    helps = bool((after >= before).all() and low > 0)
    reason = (
        f"{describe(method)}: worst place {before.min():.1%} to {after.min():.1%} "
        f"({worst:+.1%}, 95 % interval {low:+.1%} to {high:+.1%}), "
        f"{int((after < before).sum())} of {len(at)} places lower"
    )
    held_out = {
        "tried": describe(method),
        "probes": len(off),
        "places": list(at),
        "off": before.round(4).tolist(),
        "on": after.round(4).tolist(),
        "worst_gain": [round(value, 4) for value in (worst, low, high)],
        "mean_gain": [
            round(value, 4) for value in (gained(bootstrap.mean)(both), mean_low, mean_high)
        ],
    }
    before_it = find_record(model.name, model.revision) or CalibrationRecord(
        model.name, model.revision
    )
    return replace(
        before_it, method=method if helps else None, reason=reason, held_out=held_out, tried=method
    )


def _probes(model: CausalModel, hay: Haystack, plan: Plan, count: int, *, seed: int) -> list[Probe]:
    """Of every kind and length, in turns, so that a part of them is like the whole."""
    each = [
        make_probes(kind, count, Material(hay, model.count, length, seed))
        for length in plan.lengths
        for kind in KINDS
    ]
    longest = max(len(one.prompt(model.chat, 0.0).ids) for some in each for one in some)
    if longest + 60 > model.window:
        raise InvalidRequest(
            f"the longest prompt has {longest} tokens, and {model.name} reads {model.window}; "
            "shorten it with --lengths"
        )
    return [probe for turn in zip(*each, strict=True) for probe in turn]


def _key(method: MsPoE | None, probe: Probe, place: float) -> str:
    return key(None if method is None else asdict(method), asdict(probe), place)
