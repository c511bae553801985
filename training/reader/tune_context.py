"""Tunes the late-chunking encoder of evidence sentences by LoRA (Hu et al., arXiv 2106.09685).

    python training/reader/tune_context.py DATA --meetings train.jsonl --folder build/reader/fit \
        --out late_chunking.safetensors

For questions of articles, reviews and meetings that are not held out, asked of the collections of
`long_documents` (a meeting's of their own meeting): eight of the 24 best passages, half of them
with the answer where there are as many. Loss: binary cross-entropy of sentences that answer against
the others, and a listwise softmax over all.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import torch
from evidence import answers
from long_documents import LongQuestion, build
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, normalize

from generator.evidence import Sentence, Span, evidence_sentences, gather_evidence
from generator.extractive.context.late_chunking import LORA_LAYERS, Window, question_ids, windows
from indexing.encoder.tokenizer import load_tokenizer
from indexing.filter import Filter
from indexing.models.files import encoder_weights
from rag_app.corpus.corpus import Corpus
from rag_app.progress import track

QUESTIONS = 500  # of each source but the meetings, whose are all taken

_RETRIEVED, _SAMPLED = 24, 8  # passages
_BATCH = 2  # questions per step
_LISTWISE = 0.5  # weight of the softmax
_SCALE = 2.0  # alpha / rank of LoRA
_FULL_WEIGHT = 120  # characters from which a sentence has weight 1


@dataclass(frozen=True, slots=True)
class Question:
    """A question with retrieved passages, by whether they hold an answer."""

    asked: LongQuestion
    positive: tuple[Span, ...]
    negative: tuple[Span, ...]

    def sentences(self, spans: Sequence[Span]) -> tuple[list[Sentence], Tensor]:
        """Sentences of passages, and labels: 1 where it answers, else 0."""
        sentences = evidence_sentences(spans)
        labels = [answers(one, self.asked) for one in sentences]
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
        query = torch.tensor([question_ids(self.tokenizer, one.asked.text)])
        vector = normalize(self.model(input_ids=query).last_hidden_state.float().mean(1))[0]
        every = list(windows(self.tokenizer, sentences))
        states = _hidden_states(self.model, every)
        spans = [(i, row, a, b) for row, each in enumerate(every) for i, a, b in each.spans]
        means = torch.stack([states[row, a:b].mean(0) for _, row, a, b in spans])
        index = torch.tensor([i for i, *_ in spans])
        cosines = torch.full((len(sentences),), -1.0)
        return cosines.index_put((index,), normalize(means, dim=-1) @ vector)


def _hidden_states(model: Any, every: Sequence[Window]) -> Tensor:  # noqa: ANN401
    """(windows, tokens, d) float32, padded on the right, with gradients."""
    width = max(len(window.ids) for window in every)
    ids = torch.zeros((len(every), width), dtype=torch.long)
    for row, window in zip(ids, every, strict=True):
        row[: len(window.ids)] = torch.tensor(window.ids)
    mask = (torch.arange(width) < torch.tensor([[len(each.ids)] for each in every])).long()
    states: Tensor = model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
    return states


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--folder", type=click.Path(path_type=Path), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--rank", default=16, show_default=True)
@click.option("--rate", default=5e-4, show_default=True)
@click.option("--most", default=QUESTIONS, show_default=True, help="Questions of each source.")
def main(
    data: Path, meetings: Path, folder: Path, out: Path, rank: int, rate: float, most: int
) -> None:
    """One pass over the questions."""
    from transformers import AutoModel

    torch.manual_seed(0)
    random.seed(0)
    questions: list[Question] = []
    for source, asked in build(data, meetings, folder, training=True).items():
        answerable = [one for one in asked if one.golds]
        drawn = answerable if source == "qmsum" else answerable[:most]
        questions += _retrieved(folder / f"{source}.corpus", drawn)
    weights = encoder_weights().folder
    tokenizer = load_tokenizer(weights)
    model = AutoModel.from_pretrained(
        weights, local_files_only=True, dtype=torch.bfloat16, attn_implementation="eager"
    )
    layers = _add_lora(model, rank)
    scale, shift = (nn.Parameter(torch.tensor(value)) for value in (12.0, -5.0))
    _tune(Tuned(model, tokenizer, scale, shift), questions, rate)
    tensors = {"scale": scale.detach()}
    for name, each in layers.items():
        tensors[f"{name}.a"] = (_SCALE * each.a).detach().contiguous()
        tensors[f"{name}.b"] = each.b.detach().contiguous()
    save_file(tensors, out)


def _retrieved(folder: Path, asked: Sequence[LongQuestion]) -> Iterator[Question]:
    """Those with a passage that answers among the best."""
    with Corpus(folder) as corpus, track(asked, doing=f"Searching ({folder.stem})") as steps:
        ids = {entry.title: entry.id for entry in corpus.documents()}
        for one in steps:
            where = Filter() if one.words else Filter(documents=(ids[one.document],))
            hits = corpus.search(one.text, k=5, passages=_RETRIEVED, where=where)
            passages = gather_evidence(hits, corpus.document).passages
            holds = [any(answers(each, one) for each in evidence_sentences([p])) for p in passages]
            positive = tuple(p for p, held in zip(passages, holds, strict=True) if held)
            negative = tuple(p for p, held in zip(passages, holds, strict=True) if not held)
            if positive:
                yield Question(one, positive, negative)


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


if __name__ == "__main__":
    main()
