"""Trains the reader: the words that answer, the sentences that do, and whether any do.

    python training/reader/train_reader.py DATA/reading/train.jsonl.gz \
        --meetings DATA/qmsum/train.jsonl --folder build/reader --device cuda --seconds 390

Made for a GPU, on which it takes minutes; `--device cpu` works, for trials. The rate falls to
nothing when the time is over or all passes are read, whichever comes first, so that a run of any
length ends with weights that can ship: `reader.safetensors` in the folder.
"""

from __future__ import annotations

import multiprocessing
import re
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import click
import torch
from groups import Batch, Groups, Part
from packing import Pack
from reader_loss import loss, read
from safetensors.torch import save_file
from torch import Tensor, nn

from generator.reader.cross_encoder import CrossEncoder
from indexing.models.files import DEFAULT_ENCODER
from indexing.models.weight_changes import ENCODER, changes
from training.adapters import add_lora

RATE, HEADS = 2e-4, 5e-4  # learning rates of the layers and of the heads
WARM = 200  # steps
DECAY = 0.01  # of matrices
DROPOUT = 0.1  # of the hidden states

_LOG = 20.0  # seconds
_LAYER = re.compile(r"\.layer\.\d+\.")


_shared: dict[int, tuple[Groups, int]] = {}
"""Groups and the budget of tokens, by the id of what reads them: for forked processes."""


def _batches(task: tuple[int, Part]) -> list[Batch]:
    groups, budget = _shared[task[0]]
    return groups.batches(task[1], budget)


def parts_read(
    groups: Groups, passes: int, budget: int, workers: int
) -> Iterator[tuple[float, Batch]]:
    """Each batch of all passes with the share that is done; processes put them together."""
    _shared[id(groups)] = groups, budget
    plan = groups.parts(passes)
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for done, part in enumerate(pool.imap(_batches, [(id(groups), each) for each in plan])):
            yield from ((done / len(plan), batch) for batch in part)
    del _shared[id(groups)]


def adapted(model: CrossEncoder, rank: int) -> dict[str, nn.Parameter]:
    """Low-rank adapters for all layers, beside their norms and the heads."""
    layers = {name: each for name, each in model.named_modules() if _LAYER.search(name)}
    linear = [name for name, each in layers.items() if isinstance(each, nn.Linear)]
    adapters = add_lora(model, linear, rank=rank, scale=1.0)
    norms = [name for name, each in layers.items() if isinstance(each, nn.LayerNorm)]
    rest = {
        name: each
        for name, each in model.named_parameters()
        if not name.startswith(ENCODER) or name.rpartition(".")[0] in norms
    }
    for each in rest.values():
        each.requires_grad = True
    return {**adapters, **rest}


def _optimizer(named: Mapping[str, nn.Parameter], rate: float) -> torch.optim.AdamW:
    of_encoder = {name: each for name, each in named.items() if name.startswith(ENCODER)}
    heads = [each for name, each in named.items() if name not in of_encoder]
    matrices = [each for each in of_encoder.values() if each.ndim == 2]
    vectors = [each for each in of_encoder.values() if each.ndim != 2]
    groups = [
        {"params": matrices, "lr": rate, "weight_decay": DECAY},
        {"params": vectors, "lr": rate, "weight_decay": 0.0},
        {"params": heads, "lr": HEADS, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups)


def train(
    model: CrossEncoder,
    tuned: Mapping[str, nn.Parameter],
    stream: Iterator[tuple[float, Batch]],
    *,
    device: str,
    seconds: float,
    rate: float,
) -> None:
    """Learn, in place, until the time is over or all batches are read."""
    first = next(stream)  # processes begin before the device does
    model.to(device).train()
    for each in tuned.values():  # adapters are no part of the model
        each.data = each.data.to(device)
    optimizer, weights = _optimizer(tuned, rate), list(tuned.values())
    rates = [group["lr"] for group in optimizer.param_groups]
    began = shown = time.monotonic()
    tokens = 0
    for step, (share, batch) in enumerate(chain([first], stream), 1):
        passed = time.monotonic() - began
        if passed > seconds:
            return
        factor = min(1.0, step / WARM) * (1 - max(share, passed / seconds))
        for group, first_rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = first_rate * factor
        arrays = {name: torch.from_numpy(each).to(device) for name, each in batch.arrays.items()}
        found = loss(read(model, arrays), arrays, batch.groups)
        torch.autograd.backward(found)
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        optimizer.zero_grad()
        tokens += batch.tokens
        if time.monotonic() - shown > _LOG:
            shown = time.monotonic()
            said = f"step {step}, {tokens} tokens, loss {float(found.detach()):.3f}"
            click.echo(f"{passed:.0f} s: {said}, {tokens / passed:.0f} tokens a second")


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--encoder", default=DEFAULT_ENCODER, show_default=True)
@click.option(
    "--rank",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Of low-rank adapters; 0 changes whole matrices.",
)
@click.option("--rate", default=RATE, show_default=True, help="Of the layers.")
@click.option("--device", default="cuda", show_default=True)
@click.option("--seconds", type=click.FloatRange(min=1), default=390, show_default=True)
@click.option("--passes", type=click.IntRange(min=1), default=8, show_default=True)
@click.option("--budget", type=click.IntRange(min=1_000), default=36_864, show_default=True)
@click.option("--workers", type=click.IntRange(min=1), default=4, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
def main(
    data: Path,
    meetings: Path,
    folder: Path,
    encoder: str,
    rank: int,
    rate: float,
    device: str,
    seconds: float,
    passes: int,
    budget: int,
    workers: int,
    seed: int,
) -> None:
    """Train for so long; `--budget` is the tokens of a step, with padding.

    What ships for multilingual-e5-small has `--encoder multilingual-e5-small --rate 1.5e-4`, for
    all-mpnet-base-v2 `--encoder all-mpnet-base-v2 --rank 32 --rate 5e-4 --budget 24576`, each in a
    folder of its own.
    """
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    groups = Groups(Pack.of(data, meetings, folder, encoder))
    model = CrossEncoder(encoder, dropout=DROPOUT, attention="sdpa")
    tuned = adapted(model, rank) if rank else model.tuned()
    stream = parts_read(groups, passes, budget, workers)
    train(model, tuned, stream, device=device, seconds=seconds, rate=rate)
    for each in tuned.values():
        each.data = each.data.cpu()
    save_file(_tensors(tuned, encoder), folder / "reader.safetensors")


def _tensors(tuned: Mapping[str, nn.Parameter], encoder: str) -> dict[str, Tensor]:
    """For a file: adapters in float16, all else as `changes` has it."""
    low = {name: each for name, each in tuned.items() if name.endswith((".a", ".b"))}
    rest = {name: each for name, each in tuned.items() if name not in low}
    found = changes(rest, dict(CrossEncoder(encoder).named_parameters()))
    return found | {name: each.detach().half().contiguous() for name, each in low.items()}


if __name__ == "__main__":
    main()
