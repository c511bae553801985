"""Tunes the encoder that reads sentences of evidence in context.

    python tools/tune_context.py train.jsonl --corpus FOLDER --out late_chunking.safetensors

For every question of QMSum with marked utterances, eight of the 24 best passages of its meeting,
half of them marked where there are as many: sentences in marked utterances are to be told from the
others (binary cross-entropy) and to come before them (softmax over all). With `--fold` the
questions of every third meeting are left out, and how those are ranked is printed before and after.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import click
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from generator.evidence import Sentence, Span, evidence_sentences, gather_evidence
from generator.extractive.late_chunking import LORA_LAYERS, cosine_similarities
from indexing.filter import Filter
from indexing.models.files import encoder_weights
from rag_app.corpus.corpus import Corpus
from rag_app.datasets.qmsum import meetings
from rag_app.evaluation.answers import Gold, in_gold
from rag_app.progress import counted

FOLDS = 3
_FOUND, _SHOWN = 24, 8  # passages
_TOGETHER = 2  # questions a step
_LIST = 0.5  # weight of the softmax
_STRENGTH = 2.0  # of what is added
_WHOLE = 120  # characters from which a sentence counts fully


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the passages found for it, and which of them are marked."""

    text: str
    meeting: int
    golds: tuple[Gold, ...]
    marked: tuple[Span, ...]
    others: tuple[Span, ...]

    def sentences(self, spans: Sequence[Span]) -> tuple[list[Sentence], Tensor]:
        """Of some passages, and whether each is in a marked utterance."""
        found = evidence_sentences(spans)
        held = [in_gold(self.golds, one.document.id, one.start, one.end) for one in found]
        return found, torch.tensor(held, dtype=torch.float32)


class Changed(nn.Module):
    """A linear layer and what is added to it."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer
        size = layer.in_features
        self.a = nn.Parameter((torch.randn(rank, size) / math.sqrt(size)).to(layer.weight))
        self.b = nn.Parameter(torch.zeros(layer.out_features, rank).to(layer.weight))

    def forward(self, states: Tensor) -> Tensor:
        """The layer's output, and what is added."""
        added: Tensor = self.layer(states) + _STRENGTH * ((states @ self.a.T) @ self.b.T)
        return added


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """An encoder that is being tuned.

    Attributes:
        model: Its layers are `Changed`.
        tokenizer: Its tokenizer.
        scale: What a cosine counts.
        shift: What is added, so that the logistic function gives shares.
    """

    model: Any
    tokenizer: Any
    scale: nn.Parameter
    shift: nn.Parameter

    def cosines(self, one: Question, found: Sequence[Sentence]) -> Tensor:
        """(n,) of the question and each sentence."""
        return cosine_similarities(self.model, self.tokenizer, one.text, found)


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--corpus", "folder", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--rank", default=16, show_default=True)
@click.option("--rate", default=5e-4, show_default=True)
@click.option("--fold", type=click.IntRange(0, FOLDS - 1), help="Leave these meetings out.")
@click.option("--most", type=click.IntRange(min=1), help="At most so many questions of each part.")
def main(  # noqa: PLR0913, PLR0917 - one argument for each flag
    data: Path, folder: Path, out: Path, rank: int, rate: float, fold: int | None, most: int | None
) -> None:
    """One pass over the questions."""
    from transformers import AutoModel, AutoTokenizer

    torch.manual_seed(0)
    random.seed(0)
    asked = list(_questions(data, folder))
    kept = [one for one in asked if fold is None or one.meeting % FOLDS != fold][:most]
    left = [one for one in asked if fold is not None and one.meeting % FOLDS == fold][:most]
    weights = encoder_weights().folder
    tokenizer = AutoTokenizer.from_pretrained(weights, local_files_only=True)
    model = AutoModel.from_pretrained(
        weights, local_files_only=True, dtype=torch.bfloat16, attn_implementation="eager"
    )
    changed = _change(model, rank)
    scale, shift = (nn.Parameter(torch.tensor(value)) for value in (12.0, -5.0))
    tuned = Tuned(model, tokenizer, scale, shift)
    if left:
        click.echo(_judged(tuned, left))
    _tune(tuned, kept, rate)
    tensors = {"scale": scale.detach()}
    for name, each in changed.items():
        tensors[f"{name}.a"] = (_STRENGTH * each.a).detach().contiguous()
        tensors[f"{name}.b"] = each.b.detach().contiguous()
    save_file(tensors, out)
    if left:
        click.echo(_judged(tuned, left))


def _questions(data: Path, folder: Path) -> Iterator[Question]:
    with Corpus(folder) as corpus:
        corpus.add([data])
        pairs = [
            (number, meeting.document, question)
            for number, meeting in enumerate(meetings(data))
            for question in meeting.specific
            if question.utterances
        ]
        with counted(pairs, doing="Searching") as steps:
            for number, document, question in steps:
                where = Filter(documents=(document.id,))
                hits = corpus.search(question.text, k=1, passages=_FOUND, where=where)
                golds = tuple(
                    Gold(
                        document.id,
                        document.utterances[utterance].start,
                        document.utterances[utterance].end,
                    )
                    for utterance in question.utterances
                )
                found = gather_evidence(hits, corpus.document).passages
                marked = [span for span in found if _marked(span, golds)]
                others = [span for span in found if not _marked(span, golds)]
                yield Question(question.text, number, golds, tuple(marked), tuple(others))


def _marked(span: Span, golds: Sequence[Gold]) -> bool:
    """Whether over a hundred characters of it are in marked utterances."""
    return any(min(span.end, gold.end) - max(span.start, gold.start) > 100 for gold in golds)


def _change(model: nn.Module, rank: int) -> dict[str, Changed]:
    """Puts what will be tuned beside the layers; everything else stays as it is."""
    model.requires_grad_(False)
    found: dict[str, Changed] = {}
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and "encoder" in name and name.endswith(LORA_LAYERS):
            owner, _, last = name.rpartition(".")
            found[name] = Changed(module, rank)
            setattr(model.get_submodule(owner), last, found[name])
    return found


def _tune(tuned: Tuned, asked: Sequence[Question], rate: float) -> None:
    """Parameters are kept in float32 beside the bfloat16 ones that are computed with."""
    rough = [each for each in tuned.model.parameters() if each.requires_grad]
    exact = [each.detach().float().clone().requires_grad_() for each in rough]
    few = {"params": [tuned.scale, tuned.shift], "lr": 1e-2}
    optimizer = torch.optim.AdamW([{"params": exact, "lr": rate}, few], weight_decay=0.01)
    steps = len(asked) // _TOGETHER
    warm = 0.06 * steps + 1
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / steps))
    )
    order = random.sample(list(asked), len(asked))
    tuned.model.train()
    with counted(range(steps), doing="Tuning") as numbers:
        for number in numbers:
            for one in order[number * _TOGETHER : (number + 1) * _TOGETHER]:
                torch.autograd.backward(_loss(tuned, one) / _TOGETHER)
            for each, kept in zip(rough, exact, strict=True):
                kept.grad, each.grad = each.grad.float(), None
            nn.utils.clip_grad_norm_(exact, 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for each, kept in zip(rough, exact, strict=True):
                    each.copy_(kept)


def _loss(tuned: Tuned, one: Question) -> Tensor:
    few = min(len(one.marked), max(_SHOWN // 2, _SHOWN - len(one.others)))
    shown = random.sample(one.marked, few)
    shown += random.sample(one.others, min(len(one.others), _SHOWN - few))
    found, held = one.sentences(shown)
    logits = tuned.scale * tuned.cosines(one, found) + tuned.shift
    weight = torch.tensor([min(1.0, (each.end - each.start) / _WHOLE) for each in found])
    loss = binary_cross_entropy_with_logits(logits, held, weight=weight, reduction="sum")
    loss = loss / weight.sum()
    if held.any():
        weighed = logits + weight.clamp(min=1e-3).log()
        loss = loss + _LIST * (weighed.logsumexp(0) - weighed[held > 0].logsumexp(0))
    return loss


def _judged(tuned: Tuned, asked: Sequence[Question]) -> str:
    """How often the best sentence of the 16 best passages is in a marked utterance, and five."""
    first, five = [], []
    tuned.model.eval()
    with torch.inference_mode(), counted(asked, doing="Judging") as steps:
        for one in steps:
            spans = sorted((*one.marked, *one.others), key=lambda span: -span.score)[:16]
            found, held = one.sentences(spans)
            long = torch.tensor([each.end - each.start > 25 for each in found])
            if held.any() and long.any():
                cosines = tuned.cosines(one, found)[long]
                ranked = held[long][cosines.argsort(descending=True)]
                first.append(float(ranked[0]))
                five.append(float(ranked[:5].mean()))
    return f"{len(first)} questions: first in evidence {fmean(first):.3f}, five {fmean(five):.3f}"


if __name__ == "__main__":
    main()
