"""One cell of the table: a task learnt with one kind of positions from one seed."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from training import checkpoint
from training.cope.task import NOT_ASKED, Batch, Task
from training.cope.transformer import Positions, Transformer

RATE, WARMUP, DECAY, CLIP = 1e-3, 200, 0.01, 1.0
TESTED, TESTED_AT_ONCE = 1000, 50  # sequences of each split
SAVE_EVERY = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Cell:
    """What is trained, and for how long.

    Attributes:
        task: What is to be learnt.
        positions: How tokens know where they are.
        seed: Of weights and batches.
        steps: In all.
        batch: Sequences a step.
    """

    task: Task
    positions: Positions
    seed: int
    steps: int
    batch: int

    @property
    def name(self) -> str:
        """What its files are called."""
        return f"{self.task.name}.{self.positions}.{self.seed}.{self.steps}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a cell.

    Attributes:
        errors: Share of the questions answered wrongly, by split.
        loss: Mean of the last hundred steps.
        seconds: Of processor time.
    """

    errors: dict[str, float]
    loss: float
    seconds: float


def outcome(cell: Cell, folder: Path) -> Outcome | None:
    """What came of it, if it is done."""
    file = folder / f"{cell.name}.json"
    return Outcome(**json.loads(file.read_text("utf-8"))) if file.exists() else None


def trained(cell: Cell, folder: Path) -> Transformer:
    """The model of a cell that is done."""
    model = Transformer(cell.task, cell.positions)
    model.load_state_dict(load_file(folder / f"{cell.name}.safetensors"))
    return model.eval()


def run(cell: Cell, folder: Path, say: Callable[[str], None] = print) -> Outcome:
    """Trains and tests a cell, from its last checkpoint if there is one; keeps what comes of it."""
    done = outcome(cell, folder)
    if done:
        return done
    path = folder / f"{cell.name}.checkpoint.safetensors"
    training = Training.begun(cell, path)
    saved = time.monotonic()
    while training.step < cell.steps:
        training.advance()
        if training.step % 500 == 0:
            say(f"{cell.name} step {training.step} loss {training.mean_loss:.4f}")
        if time.monotonic() - saved > SAVE_EVERY:
            training.save(path)
            saved = time.monotonic()
    training.model.eval()
    errors = {
        name: error(training.model, split, chance(cell, -1 - number))
        for number, (name, split) in enumerate(cell.task.splits.items())
    }
    found = Outcome(errors, training.mean_loss, training.seconds)
    save_file(training.model.state_dict(), folder / f"{cell.name}.safetensors")
    _write(folder / f"{cell.name}.json", json.dumps(asdict(found)))
    path.unlink(missing_ok=True)
    return found


def _write(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)


def chance(cell: Cell, step: int) -> torch.Generator:
    """The source of chance of a step; all positions see the same batches."""
    return torch.Generator().manual_seed(1_000_003 * (cell.seed + 1) + step)


class Training:
    """A model on its way."""

    def __init__(self, cell: Cell) -> None:
        self.cell, self.step, self.seconds = cell, 0, 0.0
        torch.manual_seed(cell.seed)
        self.model = Transformer(cell.task, cell.positions)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=RATE, betas=(0.9, 0.98), weight_decay=DECAY, fused=True
        )
        self.losses: list[float] = []

    @property
    def mean_loss(self) -> float:
        """Over the last hundred steps."""
        last = self.losses[-100:]
        return sum(last) / len(last) if last else math.nan

    def rate(self) -> float:
        """A linear warm-up, then half a cosine down to a tenth."""
        if self.step < WARMUP:
            return RATE * (self.step + 1) / WARMUP
        share = (self.step - WARMUP) / max(1, self.cell.steps - WARMUP)
        return RATE * (0.55 + 0.45 * math.cos(math.pi * share))

    def advance(self) -> None:
        """One step."""
        begun = time.process_time()
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        batch = self.cell.task.trained_on(self.cell.batch, chance(self.cell, self.step))
        loss = loss_of(self.model(batch.tokens), batch.targets)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), CLIP)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.losses.append(float(loss.detach()))
        self.step += 1
        self.seconds += time.process_time() - begun

    def save(self, path: Path) -> None:
        """Everything that resuming needs."""
        notes = {"step": self.step, "seconds": self.seconds, "losses": self.losses[-100:]}
        checkpoint.save(path, dict(self.model.named_parameters()), self.optimizer, notes)

    @classmethod
    def begun(cls, cell: Cell, path: Path) -> Training:
        """As a checkpoint left it, or new."""
        training = cls(cell)
        if path.exists():
            parameters = dict(training.model.named_parameters())
            notes = checkpoint.load(path, parameters, training.optimizer)
            training.step, training.seconds = notes["step"], notes["seconds"]
            training.losses = notes["losses"]
        return training


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Cross entropy over what is asked."""
    return cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=NOT_ASKED)


@torch.inference_mode()
def error(
    model: Transformer, split: Callable[[int, torch.Generator], Batch], source: torch.Generator
) -> float:
    """Share of the questions of a thousand sequences that are answered wrongly."""
    wrong = asked = 0
    for _ in range(TESTED // TESTED_AT_ONCE):
        batch = split(TESTED_AT_ONCE, source)
        is_asked = batch.targets != NOT_ASKED
        wrong += int((model(batch.tokens).argmax(dim=-1) != batch.targets)[is_asked].sum())
        asked += int(is_asked.sum())
    return wrong / asked
