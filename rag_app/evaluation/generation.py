"""How quickly a language model reads a prompt and writes, beside plain transformers and llama.cpp.

All are timed in turn, round after round: the same weights, prompts and threads.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from generator.lm.causal_lm import CausalModel
from generator.lm.prefix_cache import PrefixCache
from generator.lm.sampling import Sampling
from generator.ms_poe.architectures import recognise
from generator.ms_poe.method import MsPoE
from indexing.errors import UnsupportedModel
from indexing.models.files import DEFAULT_GENERATOR, generator_weights
from indexing.models.gguf import silenced
from rag_app.evaluation import llama_cpp
from rag_app.progress import counted

if TYPE_CHECKING:
    from collections.abc import Generator

DTYPES = ("float32", "bfloat16")

Timed = tuple[float, float]
"""Tokens a second, read and written."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Tokens a second, medians over the rounds.

    Attributes:
        engine: "transformers float32", "transformers bfloat16", "rag-app", "rag-app, Ms-PoE" or
            "llama.cpp".
        prompt: Tokens of the prompt.
        read: Of the prompt, until the first token is there.
        written: After the first.
    """

    engine: str
    prompt: int
    read: float
    written: float


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """What was measured.

    Attributes:
        model: The model's name.
        revision: What pins its files.
        dtype: What rag-app loads the model in.
        threads: Of each engine.
        steps: What reads single tokens in rag-app.
        rounds: How often each was timed.
        rates: By prompt and engine.
    """

    model: str
    revision: str
    dtype: str
    threads: int
    steps: str
    rounds: int
    rates: tuple[Rate, ...]

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints."""
        return {"task": "generation", **asdict(self)}


def evaluate(
    name: str = DEFAULT_GENERATOR,
    *,
    prompts: Sequence[int] = (1000, 2000),
    tokens: int = 32,
    rounds: int = 3,
    notify: Callable[[str], None] | None = None,
) -> GenerationReport:
    """Measure; llama.cpp only where it is installed and the packaged weights are asked for.

    Raises:
        ModelNotFound: No model by that name.
        InvalidRequest: A prompt does not fit the model.
    """
    import torch

    ours = CausalModel.load(name, notify=notify)
    engines: dict[str, Callable[[list[int]], Timed]] = {
        **{f"transformers {dtype}": _transformers(name, ours, dtype, tokens) for dtype in DTYPES},
        "rag-app": lambda ids: _timed(_written(ours, ids, tokens), len(ids)),
    }
    if _turns(ours):
        engines["rag-app, Ms-PoE"] = lambda ids: _with_ms_poe(ours, ids, tokens)
    theirs = llama_cpp.engine(name, threads=torch.get_num_threads(), window=max(prompts) + tokens)
    if theirs:
        engines["llama.cpp"] = lambda ids: theirs(ids, tokens)
    found: dict[tuple[int, str], list[Timed]] = {}
    steps = [*product(prompts, range(rounds), engines)]
    for engine in engines.values():
        engine(_prompt(ours, 64, seed=-1))  # the first run prepares kernels
    with counted(steps, doing="Generating") as some:
        for length, seed, each in some:
            timed = engines[each](_prompt(ours, length, seed=seed))
            found.setdefault((length, each), []).append(timed)
    return GenerationReport(
        model=ours.name,
        revision=ours.revision,
        dtype=str(ours.dtype).removeprefix("torch."),
        threads=torch.get_num_threads(),
        steps=ours.steps.engine(),
        rounds=rounds,
        rates=tuple(_rate(each, length, timed) for (length, each), timed in found.items()),
    )


def _rate(engine: str, prompt: int, timed: Sequence[Timed]) -> Rate:
    read, written = (round(median(side), 1) for side in zip(*timed, strict=True))
    return Rate(engine, prompt, read, written)


def _prompt(model: CausalModel, length: int, *, seed: int) -> list[int]:
    """Token ids of no meaning: the time does not depend on it."""
    some = random.Random(seed)  # noqa: S311 - no secret
    return [some.randrange(1000, model.tokenizer.vocab_size) for _ in range(length)]


def _timed(tokens: Iterable[object], prompt: int) -> Timed:
    """Of an iterator that reads a prompt before its first token."""
    started = perf_counter()
    moments = [perf_counter() for _ in tokens]
    return prompt / (moments[0] - started), (len(moments) - 1) / (moments[-1] - moments[0])


def _written(model: CausalModel, ids: Sequence[int], tokens: int) -> Generator[int]:
    """Tokens of an answer to what was never read before, which no token ends."""
    model.prefixes, ends = PrefixCache(), model.ends
    model.ends = frozenset()
    try:
        yield from model.tokens(ids, sampling=Sampling(), limit=tokens)
    finally:
        model.ends = ends


def _turns(model: CausalModel) -> bool:
    """Whether Ms-PoE knows it."""
    try:
        recognise(model.model)
    except UnsupportedModel:
        return False
    return True


def _with_ms_poe(model: CausalModel, ids: Sequence[int], tokens: int) -> Timed:
    with MsPoE()(model):
        return _timed(_written(model, ids, tokens), len(ids))


def _transformers(
    name: str, ours: CausalModel, dtype: str, tokens: int
) -> Callable[[list[int]], Timed]:
    """The same weights as people load them, likeliest token after likeliest token."""
    import torch
    from transformers import AutoModelForCausalLM

    with silenced():
        model = AutoModelForCausalLM.from_pretrained(
            generator_weights(name).folder, dtype=getattr(torch, dtype), local_files_only=True
        )
    model.to(ours.device).eval()
    return lambda ids: _timed(_greedy(model, ids, tokens), len(ids))


def _greedy(model: Any, ids: list[int], tokens: int) -> Iterator[int]:  # noqa: ANN401
    import torch

    cache, fed = None, ids
    for _ in range(tokens):
        with torch.inference_mode():
            out = model(
                input_ids=torch.tensor([fed], device=model.device),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        cache, fed = out.past_key_values, [int(out.logits[0, -1].argmax())]
        yield fed[0]
