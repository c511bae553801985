"""Tunes the late-chunking encoder of evidence sentences by LoRA (Hu et al., arXiv 2106.09685).

    python tools/tune_context.py train.jsonl --corpus FOLDER --out late_chunking.safetensors

For every question of QMSum with gold utterances: eight of the 24 best passages of its meeting, half
of them gold where there are as many. Loss: binary cross-entropy of sentences in gold utterances
against the others, and a listwise softmax over all. With `--fold` the questions of every third
meeting are held out, and their ranking is printed before and after.
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
from rag_app.progress import track

FOLDS = 3
_RETRIEVED, _SAMPLED = 24, 8  # passages
_BATCH = 2  # questions per step
_LISTWISE = 0.5  # weight of the softmax
_SCALE = 2.0  # alpha / rank of LoRA
_FULL_WEIGHT = 120  # characters from which a sentence has weight 1


@dataclass(frozen=True, slots=True)
class Question:
    """A question with retrieved passages, by whether they are gold."""

    text: str
    meeting: int
    golds: tuple[Gold, ...]
    positive: tuple[Span, ...]
    negative: tuple[Span, ...]

    def sentences(self, spans: Sequence[Span]) -> tuple[list[Sentence], Tensor]:
        """Sentences of passages, and labels: 1 in a gold utterance, else 0."""
        sentences = evidence_sentences(spans)
        labels = [in_gold(self.golds, s.document.id, s.start, s.end) for s in sentences]
        return sentences, torch.tensor(labels, dtype=torch.float32)


class LoraLinear(nn.Module):
    """A linear layer with a low-rank update: W + scale * B A."""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer
        size = layer.in_features
        self.a = nn.Parameter((torch.randn(rank, size) / math.sqrt(size)).to(layer.weight))
        self.b = nn.Parameter(torch.zeros(layer.out_features, rank).to(layer.weight))

    def forward(self, states: Tensor) -> Tensor:
        """The layer's output with the update."""
        output: Tensor = self.layer(states) + _SCALE * ((states @ self.a.T) @ self.b.T)
        return output


@dataclass(frozen=True, slots=True, eq=False)
class Tuned:
    """An encoder that is being tuned.

    Attributes:
        model: Its layers are `LoraLinear`.
        tokenizer: Its tokenizer.
        scale: Factor of a cosine in a logit.
        shift: Bias of a logit.
    """

    model: Any
    tokenizer: Any
    scale: nn.Parameter
    shift: nn.Parameter

    def cosines(self, one: Question, sentences: Sequence[Sentence]) -> Tensor:
        """(n,) cosines of the question and each sentence."""
        return cosine_similarities(self.model, self.tokenizer, one.text, sentences)


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
    questions = list(_questions(data, folder))
    training = [q for q in questions if fold is None or q.meeting % FOLDS != fold][:most]
    held_out = [q for q in questions if fold is not None and q.meeting % FOLDS == fold][:most]
    weights = encoder_weights().folder
    tokenizer = AutoTokenizer.from_pretrained(weights, local_files_only=True)
    model = AutoModel.from_pretrained(
        weights, local_files_only=True, dtype=torch.bfloat16, attn_implementation="eager"
    )
    layers = _add_lora(model, rank)
    scale, shift = (nn.Parameter(torch.tensor(value)) for value in (12.0, -5.0))
    tuned = Tuned(model, tokenizer, scale, shift)
    if held_out:
        click.echo(_evaluate(tuned, held_out))
    _tune(tuned, training, rate)
    tensors = {"scale": scale.detach()}
    for name, each in layers.items():
        tensors[f"{name}.a"] = (_SCALE * each.a).detach().contiguous()
        tensors[f"{name}.b"] = each.b.detach().contiguous()
    save_file(tensors, out)
    if held_out:
        click.echo(_evaluate(tuned, held_out))


def _questions(data: Path, folder: Path) -> Iterator[Question]:
    with Corpus(folder) as corpus:
        corpus.add([data])
        pairs = [
            (number, meeting.document, question)
            for number, meeting in enumerate(meetings(data))
            for question in meeting.specific
            if question.utterances
        ]
        with track(pairs, doing="Searching") as steps:
            for number, document, question in steps:
                where = Filter(documents=(document.id,))
                hits = corpus.search(question.text, k=1, passages=_RETRIEVED, where=where)
                golds = tuple(
                    Gold(
                        document.id,
                        document.utterances[utterance].start,
                        document.utterances[utterance].end,
                    )
                    for utterance in question.utterances
                )
                passages = gather_evidence(hits, corpus.document).passages
                positive = tuple(span for span in passages if _is_gold(span, golds))
                negative = tuple(span for span in passages if not _is_gold(span, golds))
                yield Question(question.text, number, golds, positive, negative)


def _is_gold(span: Span, golds: Sequence[Gold]) -> bool:
    """Whether it shares over a hundred characters with a gold utterance."""
    return any(min(span.end, gold.end) - max(span.start, gold.start) > 100 for gold in golds)


def _add_lora(model: nn.Module, rank: int) -> dict[str, LoraLinear]:
    """Freeze the model and wrap its layers with trainable updates."""
    model.requires_grad_(False)
    layers: dict[str, LoraLinear] = {}
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear) and "encoder" in name and name.endswith(LORA_LAYERS):
            owner, _, last = name.rpartition(".")
            layers[name] = LoraLinear(module, rank)
            setattr(model.get_submodule(owner), last, layers[name])
    return layers


def _tune(tuned: Tuned, questions: Sequence[Question], rate: float) -> None:
    """Train with float32 master weights of the bfloat16 parameters."""
    parameters = [each for each in tuned.model.parameters() if each.requires_grad]
    master = [each.detach().float().clone().requires_grad_() for each in parameters]
    calibration = {"params": [tuned.scale, tuned.shift], "lr": 1e-2}
    optimizer = torch.optim.AdamW([{"params": master, "lr": rate}, calibration], weight_decay=0.01)
    steps = len(questions) // _BATCH
    warm = 0.06 * steps + 1
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / warm, max(0.0, (steps - step) / steps))
    )
    order = random.sample(list(questions), len(questions))
    tuned.model.train()
    with track(range(steps), doing="Tuning") as numbers:
        for number in numbers:
            for one in order[number * _BATCH : (number + 1) * _BATCH]:
                torch.autograd.backward(_loss(tuned, one) / _BATCH)
            for each, copy in zip(parameters, master, strict=True):
                copy.grad, each.grad = each.grad.float(), None
            nn.utils.clip_grad_norm_(master, 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            with torch.no_grad():
                for each, copy in zip(parameters, master, strict=True):
                    each.copy_(copy)


def _loss(tuned: Tuned, one: Question) -> Tensor:
    count = min(len(one.positive), max(_SAMPLED // 2, _SAMPLED - len(one.negative)))
    spans = random.sample(one.positive, count)
    spans += random.sample(one.negative, min(len(one.negative), _SAMPLED - count))
    sentences, labels = one.sentences(spans)
    logits = tuned.scale * tuned.cosines(one, sentences) + tuned.shift
    weight = torch.tensor([min(1.0, (each.end - each.start) / _FULL_WEIGHT) for each in sentences])
    loss = binary_cross_entropy_with_logits(logits, labels, weight=weight, reduction="sum")
    loss = loss / weight.sum()
    if labels.any():
        weighted = logits + weight.clamp(min=1e-3).log()
        loss = loss + _LISTWISE * (weighted.logsumexp(0) - weighted[labels > 0].logsumexp(0))
    return loss


def _evaluate(tuned: Tuned, questions: Sequence[Question]) -> str:
    """Precision at 1 and at 5 of the sentences of the 16 best passages."""
    first, five = [], []
    tuned.model.eval()
    with torch.inference_mode(), track(questions, doing="Evaluating") as steps:
        for one in steps:
            spans = sorted((*one.positive, *one.negative), key=lambda span: -span.score)[:16]
            sentences, labels = one.sentences(spans)
            long = torch.tensor([each.end - each.start > 25 for each in sentences])
            if labels.any() and long.any():
                cosines = tuned.cosines(one, sentences)[long]
                ranked = labels[long][cosines.argsort(descending=True)]
                first.append(float(ranked[0]))
                five.append(float(ranked[:5].mean()))
    return f"{len(first)} questions: first in evidence {fmean(first):.3f}, five {fmean(five):.3f}"


if __name__ == "__main__":
    main()
