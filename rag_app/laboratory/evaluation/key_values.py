"""Key-value retrieval by position, from one reading of each list.

Liu et al., "Lost in the Middle" (arXiv 2307.03172), section 3. The question stands after the list
only, as in most of their runs: then one reading of a list serves the questions about all of its
positions, and lists of thousands of tokens can be measured on a CPU. Prompts that say the question
before the list too, as ours do, are measured by `positions.score_probes`, a reading a position.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from generator.evidence import Span
from generator.lm.caches.prefix_cache import crop, is_reusable
from generator.lm.causal_lm import CausalModel
from generator.ms_poe.lpes import LPES
from generator.ms_poe.method import MsPoE
from generator.prompt.builder import split_prompt
from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.laboratory.datasets.probes import Probe
from rag_app.laboratory.evaluation.answer_likelihood import append_answer
from rag_app.laboratory.evaluation.bootstrap import Outcomes
from rag_app.progress import track

PAIRS = 3
"""Neighbouring pairs that are asked for at each position."""


def score_lists(
    model: CausalModel, probes: Sequence[Probe], at: Sequence[float], method: MsPoE | LPES | None
) -> Outcomes:
    """The share of the pairs at each place whose value the model knows, (probes, places).

    Under Ms-PoE in the order "prompt", the end of the list decides which head gets which ratio.

    Args:
        model: Any causal model whose cache keeps every token.
        probes: Of the kind "kv".
        at: Places, 0 first, 1 last.
        method: What rescales positions; None for the untouched model.

    Raises:
        InvalidRequest: Probes of another kind, or a model whose cache cannot be used again.
    """
    if any(probe.kind != "kv" for probe in probes):
        raise InvalidRequest("one reading serves key-value pairs only; use --probe kv")
    context: Any = nullcontext() if method is None else method(model)
    with context, track(probes, doing="Reading") as steps:
        shares = [_score_list(model, probe, at) for probe in steps]
    return np.array(shares, dtype=np.float64).reshape(len(probes), len(at))


def questions_at(probe: Probe, place: float) -> list[Probe]:
    """The probe with other pairs of its list asked for: those at a place."""
    lines = probe.texts(0.5)
    first = round(place * max(0, len(lines) - PAIRS))
    return [_asking_for(probe, line) for line in lines[first : first + PAIRS]]


def _asking_for(probe: Probe, line: str) -> Probe:
    key, _, value = line.partition(": ")
    gold, _, _ = probe.gold.partition(": ")
    return replace(
        probe,
        question=probe.question.replace(gold, key),
        lead=probe.lead.replace(gold, key),
        answer=value.strip('"'),
    )


def _score_list(model: CausalModel, probe: Probe, at: Sequence[float]) -> list[float]:
    import torch

    text = document("\n".join(probe.texts(0.5)), name="kv/1", title="Document 1")
    span = Span(text, 0, len(text.text), 1.0)
    cache: Any = None
    shares = []
    for place in at:
        exact = []
        for one in questions_at(probe, place):
            prompt = split_prompt(one.question, span, chat=model.chat, room=model.window)
            ids, count = append_answer(model, prompt.suffix, one.lead, one.answer)
            with torch.inference_mode():
                if cache is None:
                    cache = _read(model, prompt.prefix)
                exact.append(_is_exact(model, cache, ids, count))
            crop(cache, len(prompt.prefix))
        shares.append(sum(exact) / len(exact))
    return shares


def _read(model: CausalModel, prefix: Sequence[int]) -> Any:  # noqa: ANN401 - a transformers cache
    import torch

    ids = torch.tensor([prefix], device=model.device)
    cache = model.model(input_ids=ids, use_cache=True, logits_to_keep=1).past_key_values
    if not is_reusable(cache):
        raise InvalidRequest(f"{model.name} forgets tokens, so that one reading cannot serve all")
    return cache


def _is_exact(model: CausalModel, cache: Any, ids: Sequence[int], count: int) -> bool:  # noqa: ANN401
    """Whether greedy decoding would write the last `count` of the ids after those of the cache."""
    import torch

    logits = model.model(
        input_ids=torch.tensor([ids], device=model.device),
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=count + 1,
    ).logits[0, -count - 1 : -1]
    return bool((logits.argmax(-1).cpu() == torch.tensor(ids[-count:])).all())
