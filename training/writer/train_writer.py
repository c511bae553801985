"""Trains the writer: low-rank adapters of the packaged language model (LoRA, arXiv 2106.09685).

    python training/writer/train_writer.py DATA --folder build/writer --out writer.safetensors

DATA holds `qmsum/train.jsonl` and `reading/train.jsonl.gz`. The model reads a question with a
handful of quotes (`generator.decoding.quotes`) and learns to write the answer; the loss is that of
the answer's tokens only. Every fifth meeting is left out. A checkpoint is written every few
minutes; the same command resumes from it.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import click
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from writer_examples import Example, meeting_examples, passage_examples, split_meetings

from generator.decoding.quotes import quote_prompt
from generator.lm.causal_lm import CausalModel
from training import checkpoint
from training.adapters import add_lora

RANK, SCALE, SEED = 16, 2.0, 0
RATE = 6e-4
TOKENS = 1_200  # of a step, padding included
PASSES = 1  # over the meetings, each with other quotes beside those needed
_SAVED = 180  # seconds between checkpoints
_FIRST_LAYER = 15  # those before it have no adapters: half of what a step costs
_LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True, slots=True)
class Row:
    """A prompt and its answer, as token ids."""

    prompt: tuple[int, ...]
    answer: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prompt) + len(self.answer)


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--passages", default=1_600, show_default=True, help="Questions on passages.")
@click.option("--minutes", default=50.0, show_default=True, help="Most minutes of steps.")
def main(data: Path, folder: Path, out: Path, passages: int, minutes: float) -> None:
    """One pass; the rate falls to nothing at its end, or as the minutes run out."""
    torch.manual_seed(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    model = CausalModel.load(dtype=torch.bfloat16, device="cpu")
    batches = _batches(_rows(model, data, passages), Random(SEED))
    parameters = add_lora(model.model, adapted(model.model), rank=RANK, scale=SCALE)
    click.echo(f"{len(batches)} steps, {sum(map(len, batches))} examples")
    training = Training(model, parameters, folder, minutes * 60)
    training.resume()
    training.run(batches)
    tensors = {
        name: ((SCALE if name.endswith(".a") else 1) * each.detach()).bfloat16().contiguous()
        for name, each in parameters.items()
    }
    save_file(tensors, out)


def adapted(model: nn.Module) -> list[str]:
    """Names of the linear layers that have adapters."""
    names = [name for name, _ in model.named_modules() if name.endswith(_LINEAR)]
    return [name for name in names if int(name.split(".")[2]) >= _FIRST_LAYER]


def _rows(model: CausalModel, data: Path, passages: int) -> list[Row]:
    train, _ = split_meetings(data / "qmsum" / "train.jsonl")
    examples: list[Example] = []
    for number in range(PASSES):
        examples += meeting_examples(train, seed=SEED + number)
    click.echo(f"{len(examples)} examples of meetings")
    examples += passage_examples(data / "reading" / "train.jsonl.gz", seed=SEED, most=passages)
    end = model.tokenizer.eos_token_id
    rows = []
    for each in examples:
        prompt = quote_prompt(each.question, each.quotes, chat=model.chat, room=700)
        rows.append(Row(prompt.ids, (*model.chat.content(each.answer), end)))
    return [row for row in rows if len(row) <= 256]


def _batches(rows: Sequence[Row], random: Random) -> list[list[Row]]:
    """Rows of like length together, batches in random order."""
    batches: list[list[Row]] = [[]]
    for row in sorted(rows, key=lambda row: (len(row) // 8, random.random())):
        if batches[-1] and len(row) * (len(batches[-1]) + 1) > TOKENS:
            batches.append([])
        batches[-1].append(row)
    random.shuffle(batches)
    return batches


class Training:
    """AdamW on the adapters, with checkpoints."""

    def __init__(
        self, model: CausalModel, parameters: dict[str, Any], folder: Path, seconds: float
    ) -> None:
        self.model, self.parameters, self.seconds = model, parameters, seconds
        self.checkpoint, self.metrics = folder / "checkpoint.safetensors", folder / "metrics.jsonl"
        self.optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, weight_decay=0.01)
        self.step, self.spent = 0, 0.0

    def run(self, batches: Sequence[Sequence[Row]]) -> None:
        """Learn from the batches that are left, until the time is up."""
        self.model.model.train()
        losses: list[float] = []
        saved = begun = time.monotonic()
        before = self.spent
        for batch in batches[self.step :]:
            self.spent = before + time.monotonic() - begun
            if self.spent > self.seconds:
                break
            left = 1 - max(self.step / len(batches), self.spent / self.seconds)
            for group in self.optimizer.param_groups:
                group["lr"] = RATE * min((self.step + 1) / 30, left)
            losses.append(self._learn(batch))
            self.step += 1
            if self.step % 20 == 0:
                self._note(losses[-20:], len(batches))
            if time.monotonic() - saved > _SAVED:
                self.save()
                saved = time.monotonic()
        self.save()

    def _learn(self, batch: Sequence[Row]) -> float:
        loss = answer_loss(self.model.model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters.values(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return float(loss.detach())

    def _note(self, losses: Sequence[float], steps: int) -> None:
        mean = sum(losses) / len(losses)
        figures = {
            "step": self.step,
            "steps": steps,
            "loss": round(mean, 4),
            "s": round(self.spent),
        }
        with self.metrics.open("a") as file:
            file.write(json.dumps(figures) + "\n")
        click.echo(json.dumps(figures))

    def save(self) -> None:
        """Write the checkpoint; a kill leaves the one before."""
        notes = {"step": self.step, "spent": self.spent}
        checkpoint.save(self.checkpoint, self.parameters, self.optimizer, notes)

    def resume(self) -> None:
        """Go on from the checkpoint, if there is one."""
        if self.checkpoint.exists():
            notes = checkpoint.load(self.checkpoint, self.parameters, self.optimizer)
            self.step, self.spent = notes["step"], notes["spent"]
            click.echo(f"resumed at step {self.step}")


def answer_loss(model: Any, batch: Sequence[Row]) -> Tensor:  # noqa: ANN401
    """Mean cross-entropy of the answers' tokens; logits are made of these alone."""
    longest = max(map(len, batch))
    ids = torch.zeros(len(batch), longest, dtype=torch.long)
    mask = torch.zeros_like(ids)
    wanted = torch.zeros(len(batch), longest, dtype=torch.bool)
    for i, row in enumerate(batch):
        ids[i, : len(row)] = torch.tensor((*row.prompt, *row.answer))
        mask[i, : len(row)] = 1
        wanted[i, len(row.prompt) - 1 : len(row) - 1] = True
    states = model.get_decoder()(input_ids=ids, attention_mask=mask).last_hidden_state
    logits = model.get_output_embeddings()(states[wanted]).float()
    following = torch.cat([ids[:, 1:], ids[:, :1]], dim=1)
    loss = cross_entropy(logits, following[wanted])
    assert math.isfinite(float(loss.detach()))
    return loss


if __name__ == "__main__":
    main()
