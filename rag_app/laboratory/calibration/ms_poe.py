"""Calibration of Ms-PoE and LPES: settings are selected on one set of probes, tested on another.

Published gains do not carry over from model to model (and neither does the harm), so each model is
measured by itself: ranges of ratios, layers and orders (Ms-PoE), and curves of scales by layer that
a genetic search finds (LPES), compete on probes of three kinds, and the best is compared with the
untouched model on held-out probes. The result may be "off".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from generator.lm.calibration_record import CalibrationRecord, find_record
from generator.lm.causal_lm import CausalModel
from generator.lm.ms_poe_policy import describe
from generator.ms_poe.architectures import recognise
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE, measure_places
from indexing.errors import InvalidRequest
from rag_app.laboratory.calibration.genetic_search import Curve as ControlPoints
from rag_app.laboratory.calibration.genetic_search import GeneticSettings, search
from rag_app.laboratory.calibration.score_file import ScoreFile, key, score_file
from rag_app.laboratory.datasets.haystack import Haystack
from rag_app.laboratory.datasets.probes import KINDS, Material, Probe, make_probes, places
from rag_app.laboratory.evaluation import bootstrap
from rag_app.laboratory.evaluation.answer_likelihood import score_answer
from rag_app.laboratory.evaluation.positions import Curve, curve
from rag_app.progress import track

METHODS = ("ms-poe", "lpes")
ORDER_PROMPTS = 12
FINALISTS = 3

Scores = npt.NDArray[np.float64]
"""(probes, places, 2): whether exact, and the mean log-probability of the answer's tokens."""


@dataclass(frozen=True, slots=True)
class CalibrationSettings:
    """How much is measured.

    Attributes:
        lengths: Approximate tokens of evidence.
        tuning_probes: Probes of each kind and length on which settings are selected.
        test_probes: Held-out probes of each kind and length on which the selection is tested.
        positions: Number of positions of the evidence.
        seed: Seed of the generated probes, and of the genetic search.
        methods: What competes, of `METHODS`.
        genetic: How scales for LPES are searched for.
    """

    lengths: tuple[int, ...] = (800,)
    tuning_probes: int = 4
    test_probes: int = 12
    positions: int = 5
    seed: int = 0
    methods: tuple[str, ...] = METHODS
    genetic: GeneticSettings = field(default_factory=GeneticSettings)

    def __post_init__(self) -> None:
        if not self.methods or not set(self.methods) <= set(METHODS):
            raise InvalidRequest(f"no method {self.methods}; use {', '.join(METHODS)}")
        if min(self.tuning_probes, self.test_probes, *self.lengths) < 1 or self.positions < 2:
            raise InvalidRequest("calibration needs probes, lengths, and at least two positions")


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of candidate settings on the tuning probes.

    Attributes:
        method: The settings.
        probes: Number of probes; candidates that fall behind are measured on fewer.
        gain: Mean gain in log-probability of the answers, over all positions.
        worst: The gain at the position where the untouched model is worst.
        least: The smallest gain of any position.
    """

    method: MsPoE | LPES
    probes: int
    gain: float
    worst: float
    least: float

    @property
    def merit(self) -> float:
        """The selection criterion: the gain at the worst position, less any loss elsewhere."""
        return self.worst + min(self.least, 0.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The result of a calibration.

    Attributes:
        verdict: The record that the application uses from now on.
        trials: All candidates, best first.
        places: Positions of the evidence, 0 first, 1 last.
        curves: Accuracy by position on the held-out probes, without and with the best settings.
    """

    verdict: CalibrationRecord
    trials: tuple[Trial, ...]
    places: tuple[float, ...]
    curves: tuple[Curve, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def calibrate(
    model: CausalModel, hay: Haystack, settings: CalibrationSettings, *, cache: Path
) -> Calibration:
    """Select settings on the tuning probes, and test them on held-out ones.

    Args:
        model: The untouched model.
        hay: Text that probes are made of.
        settings: How much is measured.
        cache: File of all scores, from which a stopped run resumes.

    Raises:
        UnsupportedModel: The methods are not defined for the model.
    """
    recognise(model.model)
    at = places(settings.positions)
    tuning = _probes(model, hay, settings, settings.tuning_probes, seed=2 * settings.seed)
    held_out = _probes(model, hay, settings, settings.test_probes, seed=2 * settings.seed + 1)
    with score_file(cache) as file:
        scorer = _Scorer(model, at, file)
        trials = _search(scorer, tuning, settings)
        best = trials[0]
        off = scorer.scores(None, held_out, "Testing the untouched model")
        on = scorer.scores(best.method, held_out, "Testing the best settings")
    verdict = _verdict(model, best.method, off, on, at)
    curves = tuple(
        curve(name, max(settings.lengths), scores[..., 0])
        for name, scores in (("off", off), (describe(best.method), on))
    )
    return Calibration(verdict, tuple(trials), at, curves)


def candidates(model: CausalModel, head_places: tuple[tuple[float, ...], ...]) -> list[MsPoE]:
    """The candidates of Ms-PoE; all order heads statically, as prefix caches need it."""
    depth = len(recognise(model.model).layers)
    half = depth // 2
    flat = [MsPoE(r_min=r, r_max=r, order="uniform") for r in (0.92, 1.06, 1.12, 1.25)]
    spread = [
        MsPoE(r_min=low, r_max=high, order="calibrated", places=head_places)
        for low, high in ((1.0, 1.1), (1.0, 1.2), (1.0, 1.5), (1.2, 1.8))
    ]
    middle = MsPoE(r_min=1.2, r_max=1.2, order="uniform")
    parts = [replace(middle, first_layer=half), replace(middle, first_layer=0, last_layer=half - 1)]
    return [*flat, *spread, *parts]


class _Scorer:
    """Scores probes at every position, and caches the scores."""

    def __init__(self, model: CausalModel, at: Sequence[float], cache: ScoreFile) -> None:
        self.model, self.at, self.cache = model, at, cache

    def scores(self, method: MsPoE | LPES | None, probes: Sequence[Probe], doing: str) -> Scores:
        """Scores (probes, places, 2) of the model with a method."""
        change: Any = nullcontext() if method is None else method(self.model)
        pairs = [(probe, place) for probe in probes for place in self.at]
        values = []
        with change, track(pairs, doing=doing) as items:
            for probe, place in items:
                name = _key(method, probe, place)
                if name not in self.cache.scores:
                    score = score_answer(self.model, probe, place)
                    self.cache.add(name, score.exact, score.likelihood)
                values.append(self.cache.scores[name])
        return np.array(values, dtype=np.float64).reshape(len(probes), len(self.at), 2)


def _search(scorer: _Scorer, probes: Sequence[Probe], settings: CalibrationSettings) -> list[Trial]:
    """Every candidate on half of the probes, the best few on all; best first."""
    off = scorer.scores(None, probes, "The untouched model")
    half = probes[::2]
    trials: list[Trial] = []

    def measure(method: MsPoE | LPES, doing: str) -> Trial:
        trials.append(_trial(method, scorer.scores(method, half, doing), off[::2]))
        return trials[-1]

    if "ms-poe" in settings.methods:
        methods = candidates(scorer.model, _head_places(scorer.model, probes))
        for n, method in enumerate(methods, start=1):
            measure(method, f"Candidate {n} of {len(methods)}")
    if "lpes" in settings.methods:
        _search_scales(scorer.model, measure, replace(settings.genetic, seed=settings.seed))
    trials.sort(key=lambda trial: -trial.merit)
    final = [
        _trial(trial.method, scorer.scores(trial.method, probes, f"Final {n} of {FINALISTS}"), off)
        for n, trial in enumerate(trials[:FINALISTS], start=1)
    ]
    final.sort(key=lambda trial: -trial.merit)
    return [*final, *trials[FINALISTS:]]


def _head_places(model: CausalModel, probes: Sequence[Probe]) -> tuple[tuple[float, ...], ...]:
    """The mean place of each group of heads, by layer."""
    some = probes[:: max(1, len(probes) // ORDER_PROMPTS)]
    prompts = [list(probe.prompt(model.chat, 0.5).ids) for probe in some]
    return tuple(tuple(round(place, 2) for place in row) for row in measure_places(model, prompts))


def _search_scales(
    model: CausalModel, measure: Callable[[LPES, str], Trial], settings: GeneticSettings
) -> None:
    """Measure the curves of LPES that a genetic search tries; the untouched model is worth 0."""
    layers = len(model.model.get_decoder().layers)
    most = settings.population + (settings.generations - 1) * (settings.population - settings.elite)
    done: list[ControlPoints] = []

    def merit(points: ControlPoints) -> float:
        method = LPES.on_curve(points, layers)
        if set(method.scales) == {1.0}:
            return 0.0
        done.append(points)
        return measure(method, f"Scales {len(done)} of about {most - 1}").merit

    search(merit, settings)


def _trial(method: MsPoE | LPES, on: Scores, off: Scores) -> Trial:
    gains = (on - off)[..., 1].mean(axis=0)
    worst = int(off[..., 1].mean(axis=0).argmin())
    return Trial(method, len(on), float(gains.mean()), float(gains[worst]), float(gains.min()))


def _verdict(
    model: CausalModel, method: MsPoE | LPES, off: Scores, on: Scores, at: Sequence[float]
) -> CalibrationRecord:
    """On if no position loses and the worst gains significantly (bootstrap); else off."""
    both = np.stack((off[..., 0], on[..., 0]), axis=1)  # (probes, 2, places)

    def gain(of: bootstrap.Statistic) -> bootstrap.Statistic:
        return lambda pairs: of(pairs[:, 1]) - of(pairs[:, 0])

    before, after = off[..., 0].mean(axis=0), on[..., 0].mean(axis=0)
    worst = gain(bootstrap.worst)(both)
    low, high = bootstrap.interval(both, gain(bootstrap.worst))
    mean_low, mean_high = bootstrap.interval(both, gain(bootstrap.mean))
    helps = bool((after >= before).all() and low > 0)
    reason = (
        f"{describe(method)}: worst position {before.min():.1%} to {after.min():.1%} "
        f"({worst:+.1%}, 95 % interval {low:+.1%} to {high:+.1%}), "
        f"{int((after < before).sum())} of {len(at)} positions lower"
    )
    held_out = {
        "tried": describe(method),
        "probes": len(off),
        "places": list(at),
        "off": before.round(4).tolist(),
        "on": after.round(4).tolist(),
        "worst_gain": [round(value, 4) for value in (worst, low, high)],
        "mean_gain": [
            round(value, 4) for value in (gain(bootstrap.mean)(both), mean_low, mean_high)
        ],
    }
    record = find_record(model.name, model.revision) or CalibrationRecord(
        model.name, model.revision
    )
    return replace(
        record, method=method if helps else None, reason=reason, held_out=held_out, tried=method
    )


def _probes(
    model: CausalModel, hay: Haystack, settings: CalibrationSettings, count: int, *, seed: int
) -> list[Probe]:
    """Probes of every kind and length, interleaved, so that any part is like the whole."""
    each = [
        make_probes(kind, count, Material(hay, model.count, length, seed))
        for length in settings.lengths
        for kind in KINDS
    ]
    longest = max(len(one.prompt(model.chat, 0.0).ids) for some in each for one in some)
    if longest + 60 > model.window:
        raise InvalidRequest(
            f"the longest prompt has {longest} tokens, and {model.name} reads {model.window}; "
            "shorten it with --lengths"
        )
    return [probe for group in zip(*each, strict=True) for probe in group]


def _key(method: MsPoE | LPES | None, probe: Probe, place: float) -> str:
    return key(None if method is None else asdict(method), asdict(probe), place)
