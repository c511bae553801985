"""Distils the packaged encoder into one with rotary or contextual positions.

    python training/rope/train_rope.py DATA --out FOLDER
    python training/rope/train_rope.py DATA --out FOLDER --positions contextual

DATA holds `qmsum/train.jsonl` and `reading/train.jsonl.gz`. The teacher is the packaged encoder as
it is; the student has its weights, without the table of positions and with other positions in
attention. No window is longer than 256 tokens.

Before the first step, in closed form: balanced coordinates of queries and keys (`rotary.py`),
kernels of the distance (`position_kernels.py`), or gates and embeddings of contextual positions
(`contextual.py`); output layers by least squares (`reconstruction.py`).

Per step: token states of every layer (mean squared error over their mean square); sentence vectors
(cosine); and the matrix of their similarities (Kullback-Leibler divergence of softmaxes: after
similarity-preserving distillation, Tung and Mori, arXiv 1907.09682).

The rate is constant after a warm-up, so that training can go on at any time; `--cooldown` makes
from a checkpoint one for use, with a rate that falls to zero (WSD: Hu et al., arXiv 2404.06395).
The same command resumes: the batches follow from the seed and the number of the step.
"""

from __future__ import annotations

import json
import math
import signal
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import agreement
import click
import contextual
import position_kernels
import reconstruction
import rotary
import torch
from agreement import Judge
from texts import Texts, read_texts
from torch import Tensor, nn
from torch.nn.functional import cosine_similarity, kl_div, log_softmax, normalize

from indexing.encoder.cpu_layers import packed
from indexing.models.files import encoder_weights
from indexing.models.minilm.rotary_minilm import ROTARY
from indexing.models.minilm.variant import WINDOW
from training import checkpoint

_MEASURED = 8  # batches from which mean states and balanced coordinates come
_SOLVED = 24  # batches from which output layers are solved
_QUICK_WINDOWS = 8  # of each length that a rehearsal is judged by
_BETWEEN = 0.2  # weight of each layer between
_SENTENCE = 4.0
_SIMILARITY = 1.0
_TEMPERATURE = 0.05
_CLIP = 1.0
_FACTORS = {
    "q_proj.bias": 10.0,
    "k_proj.bias": 10.0,
    "q_proj.weight": 2.0,
    "k_proj.weight": 2.0,
    "bias": 3.0,
    "gate_key.weight": 3.0,
    "contextual.before": 10.0,
    "contextual.after": 10.0,
}
_FROZEN = ("embeddings.", "pooler.")


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the course of training, but for the data.

    Attributes:
        rate: Of AdamW, after the warm-up.
        warmup: Steps over which the rate rises.
        seed: Of the batches.
        tokens: Of a step, about.
        positions: What the student has: "rotary" or "contextual".
        quick: Whether it is a rehearsal on a slice of the data.
    """

    rate: float
    warmup: int
    seed: int
    tokens: int
    positions: str = "rotary"
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far training has come."""

    steps: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Run:
    """A model in training.

    Attributes:
        student: Float32 weights; products are computed in bfloat16.
        teacher: bfloat16.
        optimizer: Over the weights that are not frozen.
        progress: Steps done.
    """

    student: Any
    teacher: Any
    optimizer: torch.optim.AdamW
    progress: Progress = field(default_factory=Progress)

    @property
    def trained(self) -> dict[str, nn.Parameter]:
        """The weights that are not frozen, by name."""
        found = self.student.named_parameters()
        return {name: each for name, each in found if not name.startswith(_FROZEN)}


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--rate", default=1e-4, show_default=True)
@click.option("--warmup", default=100, show_default=True, help="Steps.")
@click.option("--seed", default=0, show_default=True)
@click.option("--tokens", default=1024, show_default=True, help="Of a step, about.")
@click.option(
    "--positions", type=click.Choice(["rotary", "contextual"]), default="rotary", show_default=True
)
@click.option("--minutes", default=60.0, show_default=True, help="Stop after so many.")
@click.option("--cooldown", type=click.IntRange(min=1), help="So many steps to a rate of zero.")
@click.option("--judge-minutes", default=20.0, show_default=True, help="Between judgements.")
@click.option("--save-minutes", default=5.0, show_default=True, help="Between checkpoints.")
@click.option("--quick", is_flag=True, help="Rehearse on a slice of the data; for no use.")
@click.option("--threads", default=1, show_default=True)
def main(
    data: Path,
    out: Path,
    rate: float,
    warmup: int,
    seed: int,
    tokens: int,
    positions: str,
    minutes: float,
    cooldown: int | None,
    judge_minutes: float,
    save_minutes: float,
    quick: bool,
    threads: int,
) -> None:
    """Train until the time is up; what is in the folder is taken up where it was left."""
    torch.set_num_threads(threads)
    out.mkdir(parents=True, exist_ok=True)
    settings = Settings(rate, warmup, seed, tokens, positions, quick)
    texts = read_texts(data, encoder_weights().folder, quick=quick)
    with ExitStack() as held:
        run = prepared(texts, settings, out / "checkpoint.safetensors")
        held.enter_context(packed(run.teacher, rows=tokens))
        windows = _QUICK_WINDOWS if quick else agreement.WINDOWS
        judge = Judge(texts, encoder_weights().folder, out / "metrics.jsonl", windows)
        loop = Loop(
            run,
            texts,
            settings,
            judge,
            path=out / ("cooled.safetensors" if cooldown else "checkpoint.safetensors"),
            first=run.progress.steps,
            cooldown=cooldown,
            minutes=minutes,
            save_every=60 * save_minutes,
            judge_every=60 * judge_minutes,
        )
        loop.go()


@dataclass(slots=True, eq=False)
class Loop:
    """Steps, checkpoints and judgements, until the time or the cooldown is over.

    Attributes:
        path: Where checkpoints go.
        first: The step it began at.
        cooldown: Steps to a rate of zero, or None for a constant rate.
    """

    run: Run
    texts: Texts
    settings: Settings
    judge: Judge
    path: Path
    first: int
    cooldown: int | None
    minutes: float
    save_every: float
    judge_every: float
    stopped: bool = False

    def go(self) -> None:
        """Runs; stops in order at SIGTERM and SIGINT."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._stop)
        start = saved = time.monotonic()
        judged = start
        while not self.stopped and not self._over(start):
            if time.monotonic() - judged >= self.judge_every:
                self._judged()
                judged = time.monotonic()
            self._step()
            if time.monotonic() - saved >= self.save_every:
                self._save()
                saved = time.monotonic()
        self._save()
        if self.cooldown or not self.stopped:
            self._judged()

    def _save(self) -> None:
        notes = {"progress": asdict(self.run.progress), "settings": asdict(self.settings)}
        checkpoint.save(self.path, self.run.trained, self.run.optimizer, notes)

    def _over(self, start: float) -> bool:
        cooled = self.cooldown and self.run.progress.steps >= self.first + self.cooldown
        return bool(cooled) or time.monotonic() - start >= 60 * self.minutes

    def _stop(self, *_: object) -> None:
        self.stopped = True

    def _judged(self) -> None:
        note = {**asdict(self.run.progress), "cooled": bool(self.cooldown)}
        click.echo(json.dumps(self.judge.judged(self.run.student, note)))

    def _step(self) -> None:
        start, done = time.monotonic(), self.run.progress
        rows = self.texts.batch(self.settings.seed, done.steps, self.settings.tokens)
        parts = step(self.run, rows, self._rate(done.steps))
        seconds = time.monotonic() - start
        self.run.progress = Progress(
            done.steps + 1, done.tokens + rows.numel(), done.seconds + seconds
        )
        if done.steps % 10 == 0:
            shown = " ".join(f"{name} {value:.4f}" for name, value in parts.items())
            at = f"{time.strftime('%H:%M:%S')} step {done.steps} {tuple(rows.shape)}"
            click.echo(f"{at} {shown} {rows.numel() / seconds:.0f}/s")

    def _rate(self, steps: int) -> float:
        """Warm-up at every start, constant, and in a cooldown down to zero as 1 - sqrt(share).

        The form of the fall: Hägele et al., arXiv 2405.18392, section 3.
        """
        done = steps - self.first
        if self.cooldown:
            return self.settings.rate * (1 - math.sqrt(done / self.cooldown))
        return self.settings.rate * min(1.0, (done + 1) / self.settings.warmup)


def prepared(texts: Texts, settings: Settings, path: Path) -> Run:
    """A run as the checkpoint left it, or a new one."""
    original = rotary.teacher(encoder_weights().folder)
    torch.manual_seed(settings.seed)
    if settings.positions == "contextual":
        student = contextual.begun(original) if path.exists() else None
        student = student or contextual.started(
            original, texts, settings.seed, quick=settings.quick
        )
    else:
        weights = ROTARY.renamed(original.state_dict())
        student = rotary.student(weights) if path.exists() else None
        student = student or started(weights, original, texts, settings.seed, quick=settings.quick)
    student.train()
    for name, each in student.named_parameters():
        each.requires_grad_(not name.startswith(_FROZEN))
    run = Run(student, original.to(torch.bfloat16), torch.optim.AdamW([torch.empty(0)]))
    run.optimizer = torch.optim.AdamW(
        [{"params": [each], "factor": factor(name)} for name, each in run.trained.items()],
        lr=settings.rate,
        betas=(0.9, 0.99),
        weight_decay=0.0,
        fused=True,
    )
    if path.exists():
        notes = checkpoint.load(path, run.trained, run.optimizer)
        run.progress = Progress(**notes["progress"])
    return run


def started(
    weights: dict[str, Tensor],
    original: Any,  # noqa: ANN401
    texts: Texts,
    seed: int,
    *,
    quick: bool = False,
) -> Any:  # noqa: ANN401
    """A student as near to its teacher as it comes without gradients; a quick one less near."""
    measured, solved = (2, 2) if quick else (_MEASURED, _SOLVED)
    rows = [texts.windows(seed, number, 32, 264) for number in range(measured)]
    weights = rotary.rebalanced(weights, original, [each[:, :128] for each in rows[:2]])
    means = position_kernels.position_means(original, rows)
    few = texts.windows(seed, measured, 2 if quick else 4, WINDOW)
    weights = position_kernels.positioned(weights, original, means, few)
    student = rotary.student(weights).requires_grad_(requires_grad=False)
    batches = [texts.batch(seed + 1, number, 1024) for number in range(solved)]
    reconstruction.reconstruct(student, original, batches)
    return student


def factor(name: str) -> float:
    """How much faster than others a weight may change.

    The biases of queries and keys make kernels of the distance alone, sums of cosines, which
    the rotary pairs start without; they are of the order of 1, and weights of 0.05.
    """
    kind = next((kind for kind in _FACTORS if name.endswith(kind)), None)
    return _FACTORS[kind] if kind else 1.0


def step(run: Run, rows: Tensor, rate: float) -> dict[str, float]:
    """One step on a batch of token rows (B, T); the parts of the loss."""
    for group in run.optimizer.param_groups:
        group["lr"] = rate * group["factor"]
    with torch.no_grad():
        wanted = run.teacher(rows, output_hidden_states=True).hidden_states[1:]
    with torch.autocast("cpu", torch.bfloat16):
        states = run.student(rows, output_hidden_states=True).hidden_states[1:]
    parts = losses([each.float() for each in states], [each.float() for each in wanted])
    torch.autograd.backward(sum(parts.values(), torch.zeros(())))
    norm = nn.utils.clip_grad_norm_(run.trained.values(), _CLIP)
    run.optimizer.step()
    run.optimizer.zero_grad()
    return {name: float(part.detach()) for name, part in parts.items()} | {"norm": float(norm)}


def losses(states: list[Tensor], wanted: list[Tensor]) -> dict[str, Tensor]:
    """The weighted parts of the loss.

    Args:
        states: The student's, (B, T, h) of each layer.
        wanted: The teacher's.
    """
    pairs = zip(states[:-1], wanted[:-1], strict=True)
    between = sum((_error(own, other) for own, other in pairs), torch.zeros(()))
    own, other = (normalize(each[-1].mean(dim=1), dim=-1) for each in (states, wanted))
    return {
        "tokens": _error(states[-1], wanted[-1]),
        "between": _BETWEEN * between,
        "sentence": _SENTENCE * (1 - cosine_similarity(own, other, dim=-1)).mean(),
        "similarity": _SIMILARITY * _divergence(own, other),
    }


def _error(own: Tensor, other: Tensor) -> Tensor:
    return (own - other).square().mean() / other.square().mean()


def _divergence(own: Tensor, other: Tensor) -> Tensor:
    """Of the softmaxes of each vector's similarities to the others of the batch."""
    self_ = torch.eye(len(own), dtype=torch.bool)
    both = [
        log_softmax((each @ each.T / _TEMPERATURE).masked_fill(self_, -1e4), dim=-1)
        for each in (own, other)
    ]
    return kl_div(both[0], both[1], log_target=True, reduction="batchmean")


if __name__ == "__main__":
    main()
