"""Prefill and decoding throughput of a language model, beside plain transformers and llama.cpp.

All are timed in turn, round after round: the same weights, prompts and threads.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from benchmarks import llama_cpp
from generator.lm.caches.prefix_cache import PrefixCache
from generator.lm.causal_lm import CausalModel
from generator.lm.sampling import Sampling
from generator.ms_poe.architectures import recognise
from generator.ms_poe.method import MsPoE
from indexing.errors import UnsupportedModel
from indexing.models.files import DEFAULT_GENERATOR, generator_weights
from indexing.models.loading import loading
from rag_app.cli.option_types import numbers
from rag_app.cli.options import print_result, with_json
from rag_app.laboratory.evaluation.table import grid
from rag_app.progress import track

if TYPE_CHECKING:
    from collections.abc import Generator

DTYPES = ("float32", "bfloat16")
PROMPTS = (1000, 2000)

Speeds = tuple[float, float]
"""Tokens per second of prefill and of decoding."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """Tokens per second, medians over the rounds.

    Attributes:
        engine: "transformers float32", "transformers bfloat16", "rag-app", "rag-app, Ms-PoE" or
            "llama.cpp".
        prompt: Tokens of the prompt.
        read: Prefill: the prompt's tokens, until the first new token.
        written: Decoding: tokens after the first.
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
        dtype: Compute dtype of rag-app.
        threads: Of each engine.
        steps: The decode step of rag-app: what computes single tokens.
        rounds: How often each engine was timed.
        rates: By prompt and engine.
    """

    model: str
    revision: str
    dtype: str
    threads: int
    steps: str
    rounds: int
    rates: tuple[Throughput, ...]

    def as_dict(self) -> dict[str, object]:
        """The object that `--json` prints."""
        return {"task": "generation", **asdict(self)}


def evaluate(
    name: str = DEFAULT_GENERATOR,
    *,
    prompts: Sequence[int] = PROMPTS,
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
    engines: dict[str, Callable[[list[int]], Speeds]] = {
        **{f"transformers {dtype}": _transformers(name, ours, dtype, tokens) for dtype in DTYPES},
        "rag-app": lambda ids: _time(_decode(ours, ids, tokens), len(ids)),
    }
    if _supports_ms_poe(ours):
        engines["rag-app, Ms-PoE"] = lambda ids: _with_ms_poe(ours, ids, tokens)
    rival = llama_cpp.engine(name, threads=torch.get_num_threads(), window=max(prompts) + tokens)
    if rival:
        engines["llama.cpp"] = lambda ids: rival(ids, tokens)
    speeds: dict[tuple[int, str], list[Speeds]] = {}
    steps = [*product(prompts, range(rounds), engines)]
    for engine in engines.values():
        engine(_prompt(ours, 64, seed=-1))  # the first run prepares kernels
    with track(steps, doing="Generating") as items:
        for length, seed, each in items:
            measured = engines[each](_prompt(ours, length, seed=seed))
            speeds.setdefault((length, each), []).append(measured)
    return GenerationReport(
        model=ours.name,
        revision=ours.revision,
        dtype=str(ours.dtype).removeprefix("torch."),
        threads=torch.get_num_threads(),
        steps=ours.decode_step.engine(),
        rounds=rounds,
        rates=tuple(_throughput(each, length, runs) for (length, each), runs in speeds.items()),
    )


def _throughput(engine: str, prompt: int, runs: Sequence[Speeds]) -> Throughput:
    read, written = (round(median(side), 1) for side in zip(*runs, strict=True))
    return Throughput(engine, prompt, read, written)


def _prompt(model: CausalModel, length: int, *, seed: int) -> list[int]:
    """Random token ids: the time does not depend on their meaning."""
    draw = random.Random(seed)
    return [draw.randrange(1000, model.tokenizer.vocab_size) for _ in range(length)]


def _time(tokens: Iterable[object], prompt: int) -> Speeds:
    """Speeds of an iterator that reads a prompt before its first token."""
    started = perf_counter()
    moments = [perf_counter() for _ in tokens]
    return prompt / (moments[0] - started), (len(moments) - 1) / (moments[-1] - moments[0])


def _decode(model: CausalModel, ids: Sequence[int], tokens: int) -> Generator[int]:
    """So many tokens after a prompt that no cache holds; end-of-sequence tokens do not end it."""
    model.prefixes, ends = PrefixCache(), model.eos_token_ids
    model.eos_token_ids = frozenset()
    try:
        yield from model.tokens(ids, sampling=Sampling(), limit=tokens)
    finally:
        model.eos_token_ids = ends


def _supports_ms_poe(model: CausalModel) -> bool:
    """Whether Ms-PoE knows the model's architecture."""
    try:
        recognise(model.model)
    except UnsupportedModel:
        return False
    return True


def _with_ms_poe(model: CausalModel, ids: Sequence[int], tokens: int) -> Speeds:
    with MsPoE()(model):
        return _time(_decode(model, ids, tokens), len(ids))


def _transformers(
    name: str, ours: CausalModel, dtype: str, tokens: int
) -> Callable[[list[int]], Speeds]:
    """The same weights as people load them, decoded greedily."""
    import torch

    with loading():
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained(
            generator_weights(name).folder, dtype=getattr(torch, dtype), local_files_only=True
        )
    model.to(ours.device).eval()
    return lambda ids: _time(_greedy(model, ids, tokens), len(ids))


def _greedy(model: Any, ids: list[int], tokens: int) -> Iterator[int]:  # noqa: ANN401
    import torch

    cache, inputs = None, ids
    for _ in range(tokens):
        with torch.inference_mode():
            out = model(
                input_ids=torch.tensor([inputs], device=model.device),
                past_key_values=cache,
                use_cache=True,
                logits_to_keep=1,
            )
        cache, inputs = out.past_key_values, [int(out.logits[0, -1].argmax())]
        yield inputs[0]


@click.command
@click.option("--generator", help="Packaged name, folder or hub name.  [default: packaged]")
@click.option("--prompts", callback=numbers(), help="In tokens.  [default: 1000,2000]")
@click.option("--tokens", type=click.IntRange(min=2), default=32, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@with_json
def command(
    generator: str | None,
    prompts: tuple[int, ...] | None,
    tokens: int,
    rounds: int,
    as_json: bool,
) -> None:
    """Tokens read and generated per second, beside transformers and, if installed, llama.cpp."""
    report = evaluate(
        generator or DEFAULT_GENERATOR,
        prompts=prompts or PROMPTS,
        tokens=tokens,
        rounds=rounds,
        notify=partial(click.echo, err=True),
    )
    print_result(as_json, report.as_dict(), lambda: click.echo(text(report)))


def text(report: GenerationReport) -> str:
    """A Markdown table, and what it holds for."""
    rows = [
        [each.engine, f"{each.prompt:,}", f"{each.read:,.0f}", f"{each.written:,.1f}"]
        for each in report.rates
    ]
    table = grid(["", "prompt", "tokens read a second", "written"], rows)
    return f"{table}\n{report.threads} threads, {report.dtype}; single tokens: {report.steps}"
