"""Position tuning: new rows for a learned table of positions, trained on a person's own documents.

LongEmbed (arXiv 2404.12096, section 4.1): the table grows s times. Its old rows become the rows
i * s and stay frozen, like everything else in the model; only the rows between them are trained.
Texts within the original window use the old rows, and are encoded exactly as before.

Training texts are short. As in PoSE (arXiv 2309.10400), each is moved by an offset
u ~ U{0..L_t - L_o}, so that in time every row is used. The loss is contrastive: neighbouring spans
of one document belong together, the other spans of the batch do not.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from indexing.errors import InvalidRequest, MissingDependency, UnsupportedModel
from indexing.extension import is_extended
from indexing.extension.batch import current_batch, track_batches
from indexing.extension.table import refusal
from indexing.extension.tuned import (
    Record,
    TunedPositions,
    digest_rows,
    interleave,
    own_rows,
    write_rows,
)
from indexing.nn.architecture import Architecture, PositionTable, recognise
from indexing.nn.hooks import sequence_limit

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


@dataclass(frozen=True, kw_only=True, slots=True)
class Tuning:
    """How to train. The defaults are the paper's, but for the batch, which was 512.

    Attributes:
        epochs: Times through all pairs.
        learning_rate: Of AdamW at its highest.
        batch_size: Pairs to a step; each is contrasted with the others of its step.
        warmup_steps: Steps over which the rate rises; at most a tenth of all.
        span_words: Words to a training text.
        seed: Of the offsets and of the order of pairs.
    """

    epochs: float = 3
    learning_rate: float = 5e-4
    batch_size: int = 32
    warmup_steps: int = 100
    span_words: int = 150
    seed: int = 0


@dataclass(frozen=True, slots=True)
class TuningResult:
    """What came of a training."""

    positions: TunedPositions
    losses: tuple[float, ...]


def tune(  # noqa: PLR0913 - three keyword options
    model: SentenceTransformer,
    documents: Sequence[str],
    path: Path,
    *,
    max_length: int,
    tuning: Tuning | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TuningResult:
    """Trains positions for longer texts, and writes them to a small file.

    A copy of the model is trained; the model itself is not touched.

    Args:
        model: One with a learned table of positions.
        documents: Texts of at least two spans; the more, the better.
        path: Where to write; its folder must exist.
        max_length: L_t in tokens.
        tuning: How to train.
        progress: Called with steps done, and their number.

    Raises:
        UnsupportedModel: The model has no learned table.
        InvalidRequest: The model is extended, the length is within its window, or the documents
            are too short.
        MissingDependency: The trainer's libraries are not installed.
    """
    tuning = tuning or Tuning()
    if is_extended(model):
        raise InvalidRequest("the model is extended; restore it before its positions are tuned")
    arch = recognise(model)
    if arch.table is None:
        raise UnsupportedModel(refusal("position tuning", arch))
    if max_length <= arch.original:
        msg = f"the model reads {arch.original} tokens already; give a longer max_length"
        raise InvalidRequest(msg)
    pairs = adjacent_spans(documents, words=tuning.span_words)
    if len(pairs) < 2:
        msg = f"no two pairs of spans of {tuning.span_words} words; give more or longer documents"
        raise InvalidRequest(msg)
    student, student_arch = _student(model)
    assert student_arch.table is not None
    growing = _GrowingTable(student_arch.table, arch.original, max_length, tuning.seed)
    _install(student_arch.table, growing)
    with (
        sequence_limit(student, arch.original),
        track_batches(student_arch, max_tokens=arch.original),
    ):
        losses = _train(student, pairs, tuning, progress)
    own = own_rows(arch.table, arch.original)
    name = arch.backbone.name_or_path or arch.class_name
    write_rows(
        path,
        growing.new.detach().float().cpu(),
        Record(name, digest_rows(own), arch.original, max_length),
    )
    return TuningResult(TunedPositions(path), losses)


def adjacent_spans(documents: Iterable[str], *, words: int) -> list[tuple[str, str]]:
    """Pairs of neighbouring spans of so many words; no word is in two pairs."""
    pairs = []
    for document in documents:
        split = document.split()
        for start in range(0, len(split) - 2 * words + 1, 2 * words):
            middle = start + words
            pairs.append((" ".join(split[start:middle]), " ".join(split[middle : middle + words])))
    return pairs


class _GrowingTable(nn.Module):
    """Stands in for the table while its new rows are trained.

    Attributes:
        new: (L_o, s - 1, H): what lies between row i * s and the next of the old rows.
    """

    def __init__(self, table: PositionTable, original: int, max_length: int, seed: int) -> None:
        super().__init__()
        own = own_rows(table, original)
        s = -(-max_length // original)
        self.table = table.embedding
        self.first = table.offset
        self.original = original
        self.offsets = max_length - original + 1
        self.new = nn.Parameter(_between(own, s))
        self.source = torch.Generator().manual_seed(seed)

    def forward(self, ids: Tensor) -> Tensor:
        """Rows of every token of the batch, each text moved by an offset: (B, T, H)."""
        batch = current_batch()
        own = self.table.weight[self.first : self.first + self.original]
        texts = len(batch.lengths)
        offset = torch.randint(self.offsets, (texts, 1), generator=self.source).to(ids.device)
        rows = interleave(own, self.new)[batch.positions + offset]
        return rows.where(batch.positioned[..., None], self.table(ids))


def _student(model: SentenceTransformer) -> tuple[SentenceTransformer, Architecture]:
    """A frozen copy of a model: the trainer leaves traces, and the model itself shall have none."""
    student = copy.deepcopy(model)
    for parameter in student.parameters():
        parameter.requires_grad_(False)
    return student, recognise(student)


def _install(table: PositionTable, growing: _GrowingTable) -> None:
    """Puts a growing table in the place of the one it grows from."""
    name = next(name for name, child in table.module.named_children() if child is table.embedding)
    table.module._modules[name] = growing.to(table.embedding.weight.device)


def _train(
    model: SentenceTransformer,
    pairs: list[tuple[str, str]],
    tuning: Tuning,
    progress: Callable[[int, int], None] | None,
) -> tuple[float, ...]:
    """Trains whatever is not frozen; the mean loss of every epoch."""
    try:
        from datasets import Dataset  # type: ignore[import-untyped, import-not-found, unused-ignore]
        from sentence_transformers import SentenceTransformerTrainer as Trainer
        from sentence_transformers import SentenceTransformerTrainingArguments as Arguments
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
        from transformers import PrinterCallback, TrainerCallback
    except ImportError as error:
        library = error.name or "datasets"
        install = "pip install 'rag-app[tuning]'"
        raise MissingDependency(library, "position tuning", install) from error

    class Report(TrainerCallback):  # type: ignore[misc, unused-ignore]
        """Tells `progress` of each step."""

        def on_step_end(self, _: object, state: Any, *__: object, **___: object) -> None:  # noqa: ANN401 - the trainer's own
            if progress:
                progress(state.global_step, state.max_steps)

    steps = int(tuning.epochs * -(-len(pairs) // tuning.batch_size))
    with TemporaryDirectory() as scratch:
        arguments = Arguments(
            output_dir=scratch,
            num_train_epochs=tuning.epochs,
            learning_rate=tuning.learning_rate,
            per_device_train_batch_size=tuning.batch_size,
            warmup_steps=min(tuning.warmup_steps, steps // 10),
            weight_decay=0.0,
            seed=tuning.seed,
            logging_strategy="epoch",
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=model.device.type == "cpu",
        )
        trainer = Trainer(
            model=model,
            args=arguments,
            train_dataset=Dataset.from_dict(
                {"anchor": [one for one, _ in pairs], "positive": [other for _, other in pairs]}
            ),
            loss=MultipleNegativesRankingLoss(model),
            callbacks=[Report()],
        )
        trainer.remove_callback(PrinterCallback)  # it prints on standard output
        trainer.train()
        history = trainer.state.log_history
    return tuple(float(entry["loss"]) for entry in history if "loss" in entry)


def _between(own: Tensor, s: int) -> Tensor:
    """Where training starts: interpolation, (L_o, s - 1, H)."""
    following = torch.cat((own[1:], own[-1:]))
    shares = torch.arange(1, s, device=own.device, dtype=own.dtype) / s
    return torch.lerp(own[:, None], following[:, None], shares[:, None])
