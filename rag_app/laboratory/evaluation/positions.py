"""Accuracy by position of the evidence: "Lost in the Middle" (Liu et al., arXiv 2307.03172)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from generator.decoding import DECODINGS
from generator.decoding.base import DecodingLimits, MarginalSettings
from generator.lm.causal_lm import CausalModel
from generator.lm.sampling import Sampling
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from generator.request import AskRequest
from indexing.errors import InvalidRequest
from rag_app.laboratory.datasets.probes import Probe, places
from rag_app.laboratory.evaluation import bootstrap
from rag_app.laboratory.evaluation.answer_likelihood import score_answer
from rag_app.laboratory.evaluation.bootstrap import Outcomes
from rag_app.laboratory.evaluation.key_values import score_lists
from rag_app.progress import track

METHODS = ("off", "calibrated", "tried", "ms-poe", "lpes")
_MAX_NEW_TOKENS = 40
_NO_LIMIT = 1 << 20  # tokens of all passages together

Score = Callable[[CausalModel, Probe, float], float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % bootstrap interval over questions."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Curve:
    """One method at one length.

    Attributes:
        method: Its name.
        length: Tokens of evidence, about; 0 for probes from a file.
        questions: How many.
        accuracy: At each position, first to last.
        mean: Over all positions.
        worst: At the worst of them.
        gap: The best less the worst.
    """

    method: str
    length: int
    questions: int
    accuracy: tuple[Estimate, ...]
    mean: Estimate
    worst: Estimate
    gap: Estimate


@dataclass(frozen=True, slots=True)
class PositionReport:
    """Accuracy by position.

    Attributes:
        model: Its name.
        revision: Of its files.
        probe: The kind of questions.
        scoring: "forced" (teacher forcing), that after one reading, "written" (generated), or a
            decoding.
        places: Where the evidence stood, 0 first, 1 last.
        curves: By length, then method.
    """

    model: str
    revision: str
    probe: str
    scoring: str
    places: tuple[float, ...]
    curves: tuple[Curve, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def evaluate(  # noqa: PLR0913 - how to ask, and how to score
    model: CausalModel,
    probes: dict[int, list[Probe]],
    *,
    methods: dict[str, MsPoE | LPES | None],
    positions: int,
    written: bool = False,
    decoding: str = "concat",
    read_once: bool = False,
) -> PositionReport:
    """Ask every probe at every position, under every method.

    Args:
        model: Any causal model.
        probes: By length, all of one kind.
        methods: By name; None for the untouched model.
        positions: How many places, evenly spaced, at least 2.
        written: Search the answer in generated text, instead of scoring it by teacher forcing after
            its lead (`answer_likelihood`).
        decoding: Of generated text, one of `DECODINGS`; those over single passages get a uniform
            prior.
        read_once: Ask for key-value pairs at all positions after one reading (`key_values`).

    Raises:
        InvalidRequest: Fewer positions than two, a decoding other than "concat" that is scored, or
            one reading of what cannot be read once.
    """
    if read_once and written:
        raise InvalidRequest("after one reading answers are scored, not written; leave out one")
    if decoding != "concat" and not written:
        raise InvalidRequest(
            f"{decoding} has no single prompt to score an answer in; use --written"
        )
    if positions < 2:
        raise InvalidRequest(f"positions go from the first to the last: 2 or more, not {positions}")
    at = places(positions)
    score = partial(_score_written, decoding=decoding) if written else _score_forced
    measure = score_lists if read_once else partial(score_probes, score=score)
    curves = [
        curve(name, length, measure(model, listed, at, method))
        for length, listed in probes.items()
        for name, method in methods.items()
    ]
    kind = next(iter(probes.values()))[0].kind
    scoring = ("written" if decoding == "concat" else decoding) if written else "forced"
    scoring = "forced, after one reading" if read_once else scoring
    return PositionReport(model.name, model.revision, kind, scoring, at, tuple(curves))


def score_probes(
    model: CausalModel,
    probes: Sequence[Probe],
    at: Sequence[float],
    method: MsPoE | LPES | None,
    *,
    score: Score,
) -> Outcomes:
    """(probes, places) scores of each probe with its evidence at each place."""
    pairs = [(probe, place) for probe in probes for place in at]
    context: Any = nullcontext() if method is None else method(model)
    with context, track(pairs, doing="Asking") as steps:
        scores = [score(model, probe, place) for probe, place in steps]
    return np.array(scores, dtype=np.float64).reshape(len(probes), len(at))


def curve(method: str, length: int, outcomes: Outcomes) -> Curve:
    """The curve of one method, from (questions, positions) scores."""

    def estimate(statistic: Callable[[Outcomes], float], of: Outcomes) -> Estimate:
        return Estimate(statistic(of), *bootstrap.interval(of, statistic))

    return Curve(
        method,
        length,
        len(outcomes),
        tuple(estimate(bootstrap.mean, column[:, None]) for column in outcomes.T),
        estimate(bootstrap.mean, outcomes),
        estimate(bootstrap.worst, outcomes),
        estimate(bootstrap.gap, outcomes),
    )


def parse_method(name: str, model: CausalModel) -> MsPoE | LPES | None:
    """A method by its name.

    off, calibrated (what a calibration turned on), tried (the best that it tried), ms-poe,
    ms-poe:R or ms-poe:R_MIN-R_MAX, or lpes:R-R-..., the control points of its curve.

    Raises:
        InvalidRequest: It is none of these.
    """
    kind, _, numbers = name.partition(":")
    if kind not in METHODS or (numbers and kind not in {"ms-poe", "lpes"}):
        raise InvalidRequest(f"no method {name!r}; use {', '.join(METHODS)}, or ms-poe:1.0-1.2")
    if kind in {"off", "calibrated", "tried"}:
        return None if kind == "off" else _recorded(model, tried=kind == "tried")
    try:
        ratios = [float(number) for number in numbers.split("-")] if numbers else []
    except ValueError:
        raise InvalidRequest(f"{name!r}: ratios are numbers, as in ms-poe:1.0-1.2") from None
    if kind == "lpes":
        return _on_curve(ratios, model)
    if not ratios:
        return MsPoE()
    if len(ratios) == 1:
        return MsPoE(r_min=ratios[0], r_max=ratios[0], order="uniform")
    return MsPoE(r_min=ratios[0], r_max=ratios[-1])


def _recorded(model: CausalModel, *, tried: bool) -> MsPoE | LPES | None:
    """What a calibration turned on, or the best that it tried."""
    from generator.lm.calibration_record import find_record

    record = find_record(model.name, model.revision)
    if record is None:
        return None
    return record.tried if tried else record.method


def _on_curve(points: Sequence[float], model: CausalModel) -> LPES:
    if not points:
        raise InvalidRequest(
            "no scales were published for LPES; give control points, as in lpes:1-1.3-1, or let "
            "rag-app calibrate find them"
        )
    return LPES.on_curve(points, len(model.model.get_decoder().layers))


def _score_forced(model: CausalModel, probe: Probe, place: float) -> float:
    return float(score_answer(model, probe, place).exact)


def _score_written(model: CausalModel, probe: Probe, place: float, *, decoding: str) -> float:
    """Whether the generated text holds the answer in any letter case, as in the paper."""
    if decoding == "concat":
        prompt = probe.prompt(model.chat, place)
        text = "".join(model.stream(prompt.ids, max_new_tokens=_MAX_NEW_TOKENS, stops=prompt.stops))
    else:
        evidence = probe.evidence(place)
        how = MarginalSettings(passages=len(evidence.passages))
        limits = DecodingLimits(_NO_LIMIT, _MAX_NEW_TOKENS, Sampling(), how)
        reading = DECODINGS[decoding](model, AskRequest(probe.question), evidence, limits)
        text = "".join(reading.pieces)
    return float(probe.answer.lower() in text.lower())
