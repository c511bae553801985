"""Trains the verifier: whether evidence supports a sentence, paraphrase included.

    python training/verifier/train_verifier.py DATA/reading/train.jsonl.gz \
        --meetings DATA/qmsum/train.jsonl --folder build/verifier

The same command resumes from `checkpoint.safetensors`, written every five minutes; the learning
rate falls to nothing within `--minutes` of training, and then `verifier.safetensors` is written.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import torch
from torch import nn
from verifier_data import (
    Claim,
    MeetingClaims,
    PassageClaims,
    groups,
    load_answers,
    load_meetings,
    load_passages,
)
from verifier_model import Batch, VerifierModel, export, loss, start_from

from generator.reader.inputs import READER_WEIGHTS
from indexing.models.files import encoder_weights
from training import checkpoint

RATE, HEADS = 1e-4, 3e-4  # learning rates of the layers and of the heads
WARM = 60  # steps
FROZEN = 3  # lowest layers, which stay as the reader's
PAIRS = 16  # in a step, about

_SAVE = 300.0  # seconds
_TOGETHER = 200  # groups that are sorted by length together
_LOG = 20  # steps


class Trainer:
    """The model, its optimizer and how far it has come."""

    def __init__(self, folder: Path) -> None:
        self.model = VerifierModel()
        start_from(self.model, READER_WEIGHTS)
        self.weights = self.model.tuned()
        for layer in self.model.encoder.encoder.layer[:FROZEN]:
            layer.requires_grad_(False)
        heads = [each for name, each in self.weights.items() if "encoder" not in name]
        layers = [each for name, each in self.weights.items() if "encoder" in name]
        parts = [{"params": layers, "lr": RATE}, {"params": heads, "lr": HEADS}]
        self.optimizer = torch.optim.AdamW(parts, weight_decay=0.01, fused=True)
        self.progress: dict[str, float] = {"step": 0, "seconds": 0.0, "pairs": 0, "tokens": 0}
        self.checkpoint = folder / "checkpoint.safetensors"
        if self.checkpoint.exists():
            self.progress = checkpoint.load(self.checkpoint, self.weights, self.optimizer)

    def step(self, claims: list[Claim], batch: Batch, factor: float) -> float:
        """Learn from a batch at this share of the learning rates; the loss."""
        begun = time.monotonic()
        for group, rate in zip(self.optimizer.param_groups, (RATE, HEADS), strict=True):
            group["lr"] = rate * factor
        found = loss(self.model, claims, batch)
        torch.autograd.backward(found)
        nn.utils.clip_grad_norm_(self.weights.values(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.progress["step"] += 1
        self.progress["pairs"] += len(batch.owner)
        self.progress["tokens"] += int(batch.inputs["attention_mask"].sum())
        self.progress["seconds"] += time.monotonic() - begun
        return float(found.detach())

    def save(self) -> None:
        """Write the checkpoint."""
        checkpoint.save(self.checkpoint, self.weights, self.optimizer, self.progress)


def batches(source: Iterator[tuple[str, list[Claim]]], seed: int) -> Iterator[list[Claim]]:
    """Groups of about the same length together, without end."""
    rng = random.Random(seed)
    while True:
        drawn = [group for _, (_, group) in zip(range(_TOGETHER), source, strict=False)]
        drawn.sort(key=lambda group: max(len(text) for one in group for text in one.bag))
        found: list[list[Claim]] = [[]]
        for group in drawn:
            if sum(len(one.bag) for one in found[-1]) >= PAIRS:
                found.append([])
            found[-1] += group
        rng.shuffle(found)
        yield from found


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--answers", type=click.Path(path_type=Path, exists=True), help="Of read_answers.py.")
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--minutes", type=float, default=72.0, show_default=True, help="Of training, in all.")
def main(
    data: Path, meetings: Path, answers: Path | None, folder: Path, threads: int, minutes: float
) -> None:
    """Train, or go on training, and write the verifier's file."""
    from transformers import AutoTokenizer

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = AutoTokenizer.from_pretrained(encoder_weights().folder, local_files_only=True)
    passages = PassageClaims(load_passages(data)[0], load_answers(answers) if answers else ())
    talks = MeetingClaims(load_meetings(meetings, held=False))
    trainer = Trainer(folder)
    seed = int(trainer.progress["step"])  # 0, unless it resumes
    click.echo(f"From step {seed}.")
    _train(trainer, tokenizer, batches(groups(passages, talks, seed), seed), 60 * minutes)
    trainer.save()
    export(trainer.weights, folder / "verifier.safetensors")


def _train(
    trainer: Trainer,
    tokenizer: Any,  # noqa: ANN401
    source: Iterator[list[Claim]],
    seconds: float,
) -> None:
    """Until the time is over or a signal comes."""
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: stopped.append(number))
    saved, losses = time.monotonic(), []
    trainer.model.train()
    for claims in source:
        progress = trainer.progress
        factor = min((progress["step"] + 1) / WARM, 1 - progress["seconds"] / seconds)
        if stopped or factor <= 0:
            return
        losses.append(trainer.step(claims, Batch.of(claims, tokenizer), factor))
        if progress["step"] % _LOG == 0:
            mean, pace = sum(losses) / len(losses), progress["tokens"] / progress["seconds"]
            losses.clear()
            click.echo(
                f"{time.strftime('%H:%M:%S')} step {progress['step']}, {progress['pairs']} pairs, "
                f"loss {mean:.3f}, {pace:.0f} tokens a second"
            )
        if time.monotonic() - saved > _SAVE:
            trainer.save()
            saved = time.monotonic()


if __name__ == "__main__":
    main()
