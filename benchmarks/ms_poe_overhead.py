"""Overhead of Ms-PoE: prefill and decoding with it and without, in turns, in one run.

Each round reads a prompt once and decodes some tokens one by one under every setting, in an order
that rotates from round to round. Printed are medians, and minima, which other work disturbs least.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from statistics import median
from typing import Any

import click


@click.command
@click.option("--model", "name", help="Packaged name, folder or hub name.  [default: packaged]")
@click.option("--tokens", type=click.IntRange(min=16), default=2000, show_default=True)
@click.option("--rounds", type=click.IntRange(min=1), default=6, show_default=True)
@click.option("--steps", type=click.IntRange(min=1), default=12, show_default=True)
@click.option("--dtype", type=click.Choice(["auto", "float32", "bfloat16"]), default="auto")
@click.option("--threads", type=click.IntRange(min=1), help="Of the CPU.")
@click.option("--plain", is_flag=True, help="Tokens by transformers, as without a C compiler.")
def command(
    name: str | None,
    tokens: int,
    rounds: int,
    steps: int,
    dtype: str,
    threads: int | None,
    plain: bool,
) -> None:
    """Seconds of prefill and milliseconds of a token, off and under each order of Ms-PoE."""
    import torch

    from generator.lm.causal_lm import CausalModel
    from generator.ms_poe.method import MsPoE, measure_places
    from indexing.models.files import DEFAULT_GENERATOR

    if threads:
        torch.set_num_threads(threads)
    compute_dtype = None if dtype == "auto" else getattr(torch, dtype)
    loaded = CausalModel.load(name or DEFAULT_GENERATOR, dtype=compute_dtype)
    if plain:
        loaded.decode_step.disable("as asked")
    random = torch.Generator().manual_seed(0)
    prompt = torch.randint(200, 20_000, (1, tokens), generator=random).to(loaded.device)
    places = measure_places(loaded, [prompt[0, :64].tolist()])
    methods: dict[str, MsPoE | None] = {
        "off": None,
        "prompt": MsPoE(),
        "calibrated": MsPoE(order="calibrated", places=places),
        "uniform": MsPoE(r_max=1.2, order="uniform"),
    }
    _round(loaded.model, prompt[:, :64], dict(methods), 1)
    prefills: dict[str, list[float]] = {each: [] for each in methods}
    decodes: dict[str, list[float]] = {each: [] for each in methods}
    for number in range(rounds):
        names = [*methods][number % len(methods) :] + [*methods][: number % len(methods)]
        settings = {each: methods[each] for each in names}
        for each, (prefill, tokens_) in _round(loaded.model, prompt, settings, steps).items():
            prefills[each].append(prefill)
            decodes[each] += tokens_
    click.echo(f"{loaded.name}, {loaded.dtype}, {tokens} tokens, {torch.get_num_threads()} threads")
    click.echo(f"single tokens: {loaded.decode_step.engine()}")
    for each in methods:
        click.echo(
            f"{each:<11} prefill {_figures(prefills, each, 1, 's')}; "
            f"token {_figures(decodes, each, 1000, 'ms')}"
        )


def _round(
    model: Any,  # noqa: ANN401 - a transformers model
    prompt: Any,  # noqa: ANN401 - a tensor
    methods: dict[str, Any],
    steps: int,
) -> dict[str, tuple[float, list[float]]]:
    """Seconds of the prompt and of each token, by setting; tokens are decoded in turns too."""
    import torch

    from generator.lm.decode_step import forward

    seconds: dict[str, tuple[float, list[float]]] = {}
    caches = {}
    token = prompt[:, -1:]
    with torch.inference_mode():
        for name, method in methods.items():
            with nullcontext() if method is None else method(model):
                start = time.perf_counter()
                _, caches[name] = forward(model, prompt, None)
                seconds[name] = time.perf_counter() - start, []
        for _ in range(steps):
            for name, method in methods.items():
                with nullcontext() if method is None else method(model):
                    start = time.perf_counter()
                    forward(model, token, caches[name])
                    seconds[name][1].append(time.perf_counter() - start)
    return seconds


def _figures(times: dict[str, list[float]], name: str, scale: float, unit: str) -> str:
    middle, off = median(times[name]), median(times["off"])
    least, least_off = min(times[name]), min(times["off"])
    return (
        f"median {middle * scale:.3g} {unit} ({middle / off - 1:+.1%}), "
        f"least {least * scale:.3g} {unit} ({least / least_off - 1:+.1%})"
    )
