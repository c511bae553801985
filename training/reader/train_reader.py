"""Trains the reader: the words that answer, the sentences that do, and whether any do.

    python training/reader/train_reader.py DATA --meetings train.jsonl --folder build/reader

DATA is the `train.jsonl.gz` of questions on passages. Learning goes on at a constant rate until
that many steps are done or it is stopped (Ctrl-C, SIGTERM); the same command resumes, from
`checkpoint.safetensors` or, where that is gone, `compact.safetensors`, an eighth of its size, or
`start.safetensors`, a reader's file. `--cooldown STEPS --out FILE` takes the last checkpoint, lets
the rate fall to nothing (warm-up, stable, decay: Hu et al. 2024, arXiv 2404.06395) and writes the
reader's file; the checkpoint stays as it is, to go on from. Figures on
articles and meetings left out are printed now and then and kept in `metrics.jsonl`.
"""

from __future__ import annotations

import json
import random
import signal
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import click
import torch
from everyday import join
from reader_data import Data, Example, Meetings, load_meetings, load_passages
from reader_examples import Examples, Near, batches, of_meeting, order_windows
from reader_judge import Judged, judge, judged
from reader_loss import meeting_loss, read, reading_loss
from reader_vectors import vectors
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from generator.reader.cross_encoder import CrossEncoder, load_cross_encoder
from indexing.models.files import encoder_weights
from indexing.models.weight_changes import changes

RATE, HEADS = 1.2e-4, 5e-4  # learning rates of the layers and of the heads
WARM = 200  # steps
TOKENS = 2_200  # of questions on passages, in a step
MEETING = 1.0  # weight of a meeting's loss
MEETING_EVERY = 3  # steps; there are few questions of meetings
SET_EVERY = 2  # steps, where sets of texts are read as meetings are
COMPACT = "compact.safetensors"
START = "start.safetensors"  # a reader's file to start from, where there is no checkpoint
AVERAGE = 0.998  # decay of the weights' moving average

_SAVE, _JUDGE = 300.0, 1500.0  # seconds
_JUDGED = (60, 40, 10)  # questions of a source, queries of meetings, windows of each
_LOG = 50  # steps
_MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what AdamW keeps of a parameter


@dataclass(frozen=True, slots=True)
class Progress:
    """How far training has come.

    Attributes:
        step: Steps done.
        turn: Passes over the questions done.
        batch: Batches of this pass done.
        examples: Questions read.
        tokens: Tokens read, those of meetings among them.
        seconds: Spent on steps.
    """

    step: int = 0
    turn: int = 0
    batch: int = 0
    examples: int = 0
    tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """What is read in a step: questions on passages, and a question on windows of its meeting."""

    reading: list[Example]
    meeting: list[Example]
    after: Progress

    @property
    def tokens(self) -> int:
        """Of all inputs, without padding."""
        return sum(len(one.ids) for one in (*self.reading, *self.meeting))


@dataclass(frozen=True, slots=True)
class Material:
    """All that is read; `judged` is what is never trained on."""

    examples: Examples
    meetings: Meetings
    judged: Judged
    meeting_every: int

    @property
    def data(self) -> Data:
        """Questions on passages."""
        return self.examples.data

    def steps(self, progress: Progress) -> Iterator[Step]:
        """From where training stopped, without end."""
        while True:
            found = batches(self.examples.of_pass(progress.turn), TOKENS, progress.turn)
            for batch in found[progress.batch :]:
                meeting = self._meeting(progress.step)
                progress = replace(progress, step=progress.step + 1, batch=progress.batch + 1)
                yield Step(batch, meeting, progress)
            progress = replace(progress, turn=progress.turn + 1, batch=0)

    def _meeting(self, step: int) -> list[Example]:
        """Windows for a query in some steps; every query once before any comes again."""
        queries = self.meetings.train
        if step % self.meeting_every:
            return []
        turn, at = divmod(step // self.meeting_every, len(queries))
        order = random.Random(1_000_000 + turn).sample(queries, len(queries))
        return of_meeting(order[at], self.meetings, random.Random(step), self.data)


@dataclass(slots=True)
class Losses:
    """Losses since the last line of the log."""

    reading: list[float] = field(default_factory=list)
    meeting: list[float] = field(default_factory=list)

    def means(self) -> str:
        """Their means, as a line; forgets them."""
        shown = [sum(each) / max(1, len(each)) for each in (self.reading, self.meeting)]
        self.reading.clear()
        self.meeting.clear()
        return f"loss of reading {shown[0]:.3f}, of meetings {shown[1]:.3f}"


class Trainer:
    """A reader, its optimizer, and the moving average of its weights.

    Args:
        folder: Where the checkpoint and the figures are kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.progress, self.losses = folder, Progress(), Losses()
        self.reader = CrossEncoder(dropout=0.1)
        self.weights = self.reader.tuned()
        heads = [each for name, each in self.weights.items() if "encoder" not in name]
        layers = [each for name, each in self.weights.items() if "encoder" in name]
        groups = [{"params": layers, "lr": RATE}, {"params": heads, "lr": HEADS}]
        self.optimizer = torch.optim.AdamW(groups, weight_decay=0.01, fused=True)
        self.average = {name: each.detach().clone() for name, each in self.weights.items()}
        self.first = 0  # step from which the rate rises
        self._checkpoint = folder / "checkpoint.safetensors"
        if self._checkpoint.exists():
            self._load()
        elif (folder / COMPACT).exists():
            self._load_compact()
        elif (folder / START).exists():
            self._load_exported()

    def step(self, step: Step, factor: float) -> None:
        """Learn from a step's examples, at this share of the learning rates."""
        begun = time.monotonic()
        for group, rate in zip(self.optimizer.param_groups, (RATE, HEADS), strict=True):
            group["lr"] = rate * factor
        reading = reading_loss(read(self.reader, step.reading), step.reading)
        torch.autograd.backward(reading)
        if step.meeting:
            meeting = meeting_loss(read(self.reader, step.meeting), step.meeting)
            torch.autograd.backward(MEETING * meeting)
            self.losses.meeting.append(float(meeting.detach()))
        nn.utils.clip_grad_norm_(self.weights.values(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self._follow()
        self.losses.reading.append(float(reading.detach()))
        self.progress = replace(
            step.after,
            examples=self.progress.examples + len(step.reading),
            tokens=self.progress.tokens + step.tokens,
            seconds=self.progress.seconds + time.monotonic() - begun,
        )

    def _follow(self) -> None:
        """Move the average; faster at the beginning."""
        step = self.progress.step
        decay = min(AVERAGE, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, each in self.weights.items():
                self.average[name].lerp_(each, 1 - decay)

    def save(self) -> None:
        """Write the checkpoint beside the last one, then put it in its place."""
        tensors: dict[str, Tensor] = {}
        for name, each in self.weights.items():
            tensors[f"weight:{name}"] = each.detach()
            tensors[f"average:{name}"] = self.average[name]
            for key, value in self.optimizer.state.get(each, {}).items():
                tensors[f"{key}:{name}"] = value
        new = self._checkpoint.with_suffix(".new")
        save_file(tensors, new, {"progress": json.dumps(asdict(self.progress))})
        new.replace(self._checkpoint)

    def _load(self) -> None:
        """Go on from the checkpoint."""
        with safe_open(self._checkpoint, "pt") as file:
            self.progress = Progress(**json.loads(file.metadata()["progress"]))
            for name, each in self.weights.items():
                each.data.copy_(file.get_tensor(f"weight:{name}"))
                self.average[name] = file.get_tensor(f"average:{name}")
                found = {key: file.get_tensor(f"{key}:{name}") for key in _MOMENTS}
                self.optimizer.state[each] = found

    def save_compact(self) -> None:
        """Write what the weights have gained, in half the bits; what AdamW keeps is left out."""
        packaged = CrossEncoder().tuned()
        tensors = {
            name: (each.detach() - packaged[name].detach() * ("encoder" in name)).bfloat16()
            for name, each in self.weights.items()
        }
        progress = {"progress": json.dumps(asdict(self.progress))}
        save_file(tensors, self.folder / COMPACT, progress)

    def _load_compact(self) -> None:
        """Go on from a compact checkpoint; the rate rises anew."""
        with safe_open(self.folder / COMPACT, "pt") as file:
            self.progress = Progress(**json.loads(file.metadata()["progress"]))
            for name, each in self.weights.items():
                gained = file.get_tensor(name).float()
                each.data.copy_(each.data * ("encoder" in name) + gained)
                self.average[name] = each.detach().clone()
        self.first = self.progress.step

    def _load_exported(self) -> None:
        """Start from a reader's file; the rate rises anew, with the examples of another pass."""
        start = load_cross_encoder(self.folder / START).tuned()
        for name, each in self.weights.items():
            each.data.copy_(start[name].detach())
            self.average[name] = each.detach().clone()
        self.progress = Progress(turn=1)

    def averaged(self) -> CrossEncoder:
        """A reader with the average of the weights."""
        reader = CrossEncoder()
        for name, each in reader.tuned().items():
            each.data.copy_(self.average[name])
        return reader

    def report(self, reader: CrossEncoder, material: Material, which: str) -> None:
        """Judge a reader; a line on standard output and in `metrics.jsonl`."""
        figures = judge(reader, material.judged, material.data)
        said = {"time": time.strftime("%H:%M"), "weights": which, **asdict(self.progress)}
        line = json.dumps({**said, **figures})
        with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")
        click.echo(line)


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--everyday", is_flag=True, help="With the questions in other words.")
@click.option("--threads", type=click.IntRange(min=1), default=1, show_default=True)
@click.option("--steps", type=click.IntRange(min=1), help="Stop when so many are done in all.")
@click.option("--cooldown", type=click.IntRange(min=1), help="Steps; let the rate fall to nothing.")
@click.option("--out", type=click.Path(path_type=Path), help="The reader's file, after --cooldown.")
def main(
    data: Path,
    meetings: Path,
    folder: Path,
    everyday: bool,
    threads: int,
    steps: int | None,
    cooldown: int | None,
    out: Path | None,
) -> None:
    """Train until stopped, or for so many steps."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    folder.mkdir(parents=True, exist_ok=True)
    material = _material(data, meetings, folder, everyday=everyday)
    trainer = Trainer(folder)
    click.echo(f"From step {trainer.progress.step}.")
    if cooldown is None:
        _train(trainer, material, steps)
        trainer.save()
        trainer.save_compact()
        return
    _cool(trainer, material, cooldown)
    out = out or folder / "reader.safetensors"
    save_file(changes(trainer.weights, CrossEncoder().tuned()), out)
    trainer.report(load_cross_encoder(out), material, out.name)


def _material(data: Path, meetings: Path, folder: Path, *, everyday: bool) -> Material:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(encoder_weights().folder, local_files_only=True)
    passages, queries = load_passages(data, tokenizer), load_meetings(meetings, tokenizer)
    if everyday:
        passages, queries = join(passages, queries, meetings, tokenizer)
    found = vectors(passages, queries, folder / "vectors")
    order_windows(queries, found["queries"], found["windows"])
    near = Near(found["questions"], found["passages"])
    examples = Examples(passages, near, tokenizer)
    chosen = judged(examples, near, queries, *_JUDGED)
    return Material(examples, queries, chosen, SET_EVERY if everyday else MEETING_EVERY)


def _train(trainer: Trainer, material: Material, steps: int | None) -> None:
    """At a constant rate, until a signal or for so many steps in all."""
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: stopped.append(number))
    last_saved = last_judged = time.monotonic()
    trainer.reader.train()
    for step in material.steps(trainer.progress):
        if stopped or (steps is not None and step.after.step > steps):
            return
        trainer.step(step, min(1.0, (step.after.step - trainer.first) / WARM))
        _log(trainer)
        if time.monotonic() - last_saved > _SAVE:
            trainer.save()
            last_saved = time.monotonic()
        if time.monotonic() - last_judged > _JUDGE:
            trainer.report(trainer.averaged(), material, "average")
            last_judged = time.monotonic()


def _cool(trainer: Trainer, material: Material, steps: int) -> None:
    """At a rate that falls to nothing in so many steps; saves no checkpoint."""
    trainer.reader.train()
    for done, step in zip(range(steps), material.steps(trainer.progress), strict=False):
        trainer.step(step, 1 - done / steps)
        _log(trainer)


def _log(trainer: Trainer) -> None:
    """A line now and then."""
    progress = trainer.progress
    if progress.step % _LOG == 0:
        pace = progress.tokens / progress.seconds
        shown = f"step {progress.step}, {progress.examples} questions, {trainer.losses.means()}"
        click.echo(f"{time.strftime('%H:%M:%S')} {shown}, {pace:.0f} tokens a second")


if __name__ == "__main__":
    main()
