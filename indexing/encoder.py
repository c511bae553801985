"""A whole document in, its vector and its passages' vectors out, in one pass.

The token stream is split into context windows (parallel context windows, PCW: Zhu et al.,
arXiv 2404.12096, section 4.1). Each window is run once. The document's vector is the mean of the
windows' pooled vectors; a passage's vector is the mean of its own token states, which have seen the
window around them (late chunking, Günther et al., arXiv 2409.04701). Both are L2-normalised.

Windows are batched only with windows of exactly the same length, so nothing is ever padded and a
document's vectors do not depend, to the last bit, on what else was encoded beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from indexing.documents import Document, Passage
from indexing.errors import InvalidRequest, ModelError, UnsupportedModel
from indexing.extension import extend, method_named, recognise, supported
from indexing.extension.pcw import windows
from indexing.processor import best_device, best_dtype
from indexing.weights import DEFAULT_ENCODER, Weights, encoder_weights

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

FloatArray = npt.NDArray[np.float32]

TOKENS_PER_BATCH = 4096
WITHIN_MODEL = ("none", "pcw")  # these leave the model as it is; the others let it read further
EXTENDED_LENGTH = 4096  # tokens of a window under the methods that extend the model, by default


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What a person may choose about encoding.

    Attributes:
        model: A packaged name, a folder, or a name on the model hub.
        extension: A context-extension method, or "none" to cut documents at `max_length`.
        max_length: Tokens of one window, special tokens included; None takes the model's own.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the processor has it.
        device: "cpu", "cuda", "mps", or "auto".
    """

    model: str = DEFAULT_ENCODER
    extension: str = "pcw"
    max_length: int | None = None
    dtype: str = "auto"
    device: str = "auto"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How vectors were made. Two vectors may be compared only if their recipes are equal."""

    model: str
    revision: str
    extension: str
    max_length: int
    pooling: str
    dtype: str
    dimension: int

    def as_dict(self) -> dict[str, str | int]:
        """Field names to values, for the store and for people."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """The vectors of one document.

    Attributes:
        vector: (d,) float32, unit length.
        passages: (passages, d) float32; unit rows, or zero rows for passages past a truncation.
        tokens: Tokens of the whole text.
        encoded: Tokens that went through the model; less than `tokens` only under "none".
    """

    vector: FloatArray
    passages: FloatArray
    tokens: int
    encoded: int


@dataclass(slots=True)
class _Draft:
    """A document half-way: sums over the windows seen so far."""

    ids: npt.NDArray[np.int64]
    windows: list[tuple[int, int]]
    spans: list[tuple[int, int]]  # tokens of each passage
    share: FloatArray  # (tokens,) one over the number of windows that hold a token
    total: FloatArray  # (d,) sum of pooled window vectors
    sums: FloatArray  # (passages, d) weighted sums of token states
    weights: FloatArray  # (passages,) sums of those weights


class Encoder:
    """A sentence-transformers model applied to whole documents.

    Args:
        settings: Which model, and how.
        notify: Called with a sentence when something takes long (loading, converting).

    Raises:
        ModelNotFound: No such model here.
        UnsupportedModel: It gives no token states, or its tokenizer no character offsets.
    """

    def __init__(
        self,
        settings: EncoderSettings | None = None,
        *,
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings or EncoderSettings()
        self.weights: Weights = encoder_weights(self.settings.model, notify=notify)
        self.model, self.dtype = _load(self.weights, self.settings)
        self._pieces = _Template.of(self.model)
        self.max_length = _window_length(self.model, self.settings)
        if self.settings.extension not in WITHIN_MODEL:
            extend(self.model, self.settings.extension, max_length=self.max_length)
        self.recipe = Recipe(
            model=self.settings.model,
            revision=self.weights.revision,
            extension=self.settings.extension,
            max_length=self.max_length,
            pooling=_pooling_name(self.model),
            dtype=self.dtype,
            dimension=int(self.model.get_embedding_dimension() or 0),
        )

    def encode(
        self,
        documents: Sequence[tuple[Document, Sequence[Passage]]],
        *,
        progress: Callable[[int], None] | None = None,
    ) -> list[EncodedDocument]:
        """Encode documents; windows of all of them share batches.

        Args:
            documents: Each with its passages, in order.
            progress: Called with the number of tokens just encoded.

        Raises:
            InvalidRequest: A document holds no token at all.
        """
        drafts = [self._draft(document, passages) for document, passages in documents]
        jobs = [(draft, span) for draft in drafts for span in draft.windows]
        jobs.sort(key=lambda job: job[1][0] - job[1][1])  # longest first, stable
        for batch in _equal_batches(jobs):
            self._run(batch)
            if progress:
                progress(sum(end - start for _, (start, end) in batch))
        return [_finish(draft) for draft in drafts]

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Encode queries, (n, d) float32 with unit rows. A query is never windowed, only cut."""
        if not texts:
            return np.zeros((0, self.recipe.dimension), np.float32)
        rows = [self._pieces.query(self._tokenise(text)[0], self.max_length) for text in texts]
        vectors = np.zeros((len(rows), self.recipe.dimension), np.float32)
        order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
        for length, group in groupby(order, key=lambda i: len(rows[i])):
            same, size = list(group), max(1, TOKENS_PER_BATCH // length)
            for at in range(0, len(same), size):
                some = same[at : at + size]
                vectors[some] = self._forward(np.stack([rows[i] for i in some]))[0]
        return _unit(vectors)

    def _tokenise(self, text: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Token ids (n,) without special tokens, and their character offsets (n, 2)."""
        encoded = self.model.tokenizer(
            text,
            add_special_tokens=False,
            return_offsets_mapping=True,
            split_special_tokens=True,
            verbose=False,
        )
        offsets = np.asarray(encoded["offset_mapping"], np.int64).reshape(-1, 2)
        return np.asarray(encoded["input_ids"], np.int64), offsets

    def _draft(self, document: Document, passages: Sequence[Passage]) -> _Draft:
        ids, offsets = self._tokenise(document.text)
        if not len(ids):
            raise InvalidRequest(f"{document.path}: no words to encode; remove the file")
        size = self.max_length - self._pieces.document_overhead
        spans = windows(len(ids), size)
        if self.settings.extension == "none":
            spans = [(0, min(size, len(ids)))]
        share = np.zeros(len(ids), np.float32)
        for start, end in spans:
            share[start:end] += 1
        dimension = self.recipe.dimension
        return _Draft(
            ids=ids,
            windows=spans,
            spans=_token_spans(offsets, passages),
            share=(1 / np.maximum(share, 1)).astype(np.float32),
            total=np.zeros(dimension, np.float32),
            sums=np.zeros((len(passages), dimension), np.float32),
            weights=np.zeros(len(passages), np.float32),
        )

    def _run(self, batch: list[tuple[_Draft, tuple[int, int]]]) -> None:
        rows = np.stack([self._pieces.document(draft.ids[a:b]) for draft, (a, b) in batch])
        pooled, states = self._forward(rows)
        skip = self._pieces.document_start
        for (draft, (start, end)), vector, state in zip(batch, pooled, states, strict=True):
            draft.total += vector
            _add_states(draft, start, state[skip : skip + end - start])

    def _forward(self, ids: npt.NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
        """Pooled vectors (B, d), not normalised, and token states (B, T, d) of unpadded rows."""
        import torch
        from sentence_transformers.sentence_transformer.modules import Normalize

        rows = torch.from_numpy(ids).to(self.model.device)
        features: dict[str, Any] = {"input_ids": rows, "attention_mask": torch.ones_like(rows)}
        if "token_type_ids" in self.model.tokenizer.model_input_names:
            features["token_type_ids"] = torch.zeros_like(rows)
        with torch.inference_mode():
            for module in self.model:
                if not isinstance(module, Normalize):
                    features = module(features)
            pooled = features["sentence_embedding"].float().cpu().numpy()
            states = features["token_embeddings"].float().cpu().numpy()
        return pooled, states


@dataclass(frozen=True, slots=True)
class _Template:
    """What the tokenizer and the model's prompts put around a text."""

    head: tuple[int, ...]
    tail: tuple[int, ...]
    for_documents: tuple[int, ...]
    for_queries: tuple[int, ...]

    @classmethod
    def of(cls, model: SentenceTransformer) -> _Template:
        """Read special tokens off an example and prefixes off the model's prompts."""
        tokenizer = model.tokenizer
        if not getattr(tokenizer, "is_fast", False):
            raise UnsupportedModel(
                "this encoder's tokenizer gives no character offsets, which citations need; "
                "choose a model with a tokenizer.json"
            )
        bare = tokenizer("a", add_special_tokens=False)["input_ids"]
        full = tokenizer("a")["input_ids"]
        at = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)

        def prefix(*names: str) -> tuple[int, ...]:
            text = next((model.prompts[name] for name in names if model.prompts.get(name)), "")
            return tuple(tokenizer(text, add_special_tokens=False)["input_ids"]) if text else ()

        return cls(
            head=tuple(full[:at]),
            tail=tuple(full[at + len(bare) :]),
            for_documents=prefix("document", "passage"),
            for_queries=prefix("query"),
        )

    @property
    def document_start(self) -> int:
        return len(self.head) + len(self.for_documents)

    @property
    def document_overhead(self) -> int:
        return self.document_start + len(self.tail)

    def document(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return np.array([*self.head, *self.for_documents, *ids, *self.tail], np.int64)

    def query(self, ids: npt.NDArray[np.int64], limit: int) -> npt.NDArray[np.int64]:
        room = limit - len(self.head) - len(self.for_queries) - len(self.tail)
        return np.array([*self.head, *self.for_queries, *ids[:room], *self.tail], np.int64)


def _load(weights: Weights, settings: EncoderSettings) -> tuple[SentenceTransformer, str]:
    import torch
    from sentence_transformers import SentenceTransformer

    device = best_device() if settings.device == "auto" else torch.device(settings.device)
    if settings.dtype == "auto":
        dtype = best_dtype(device)
    else:
        dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[settings.dtype]
    try:
        model = SentenceTransformer(
            str(weights.folder),
            device=str(device),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"{settings.model} cannot be loaded as an encoder: {error}; "
            "name a sentence-transformers model with safetensors weights"
        ) from error
    return model.to(dtype).eval(), str(dtype).removeprefix("torch.")


def _window_length(model: SentenceTransformer, settings: EncoderSettings) -> int:
    """Tokens of one window: the person's choice, or what suits model and method."""
    if settings.extension not in WITHIN_MODEL:
        method_named(settings.extension, max_length=1)  # refuses unknown names
        return settings.max_length or EXTENDED_LENGTH
    limit = recognise(model).original
    chosen = settings.max_length or min(int(model.max_seq_length or limit), limit)
    if chosen > limit:
        raise UnsupportedModel(
            f"{settings.model} reads at most {limit} tokens at once, not {chosen}; choose "
            f"--max-length {limit} or less, or one of --extension {', '.join(supported(model))}"
        )
    return chosen


def _pooling_name(model: SentenceTransformer) -> str:
    from sentence_transformers.sentence_transformer.modules import Pooling

    for module in model:
        if isinstance(module, Pooling):
            return str(module.pooling_mode)
    raise UnsupportedModel("this encoder has no pooling layer; name a sentence-transformers model")


def _token_spans(
    offsets: npt.NDArray[np.int64], passages: Sequence[Passage]
) -> list[tuple[int, int]]:
    """The tokens of each passage: those that start within its characters."""
    starts = np.searchsorted(offsets[:, 0], [p.start for p in passages])
    ends = np.searchsorted(offsets[:, 0], [p.end for p in passages])
    return [(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def _equal_batches(
    jobs: list[tuple[_Draft, tuple[int, int]]],
) -> Iterator[list[tuple[_Draft, tuple[int, int]]]]:
    """Batches of windows of one length, in the order given."""
    for length, group in groupby(jobs, key=lambda job: job[1][1] - job[1][0]):
        same, size = list(group), max(1, TOKENS_PER_BATCH // max(length, 1))
        for at in range(0, len(same), size):
            yield same[at : at + size]


def _add_states(draft: _Draft, start: int, states: FloatArray) -> None:
    """Add one window's token states (n, d), the first being token `start`, to its passages."""
    end = start + len(states)
    first = int(np.searchsorted([b for _, b in draft.spans], start, side="right"))
    for p in range(first, len(draft.spans)):
        a, b = max(draft.spans[p][0], start), min(draft.spans[p][1], end)
        if draft.spans[p][0] >= end:
            break
        if a < b:
            share = draft.share[a:b]
            draft.sums[p] += share @ states[a - start : b - start]
            draft.weights[p] += share.sum()


def _finish(draft: _Draft) -> EncodedDocument:
    sums = draft.sums / np.maximum(draft.weights, 1e-9)[:, None]
    return EncodedDocument(
        vector=_unit(draft.total[None] / len(draft.windows))[0],
        passages=_unit(sums),
        tokens=len(draft.ids),
        encoded=int(max(end for _, end in draft.windows)),
    )


def _unit(rows: npt.NDArray[np.floating[Any]]) -> FloatArray:
    """Rows divided by their L2 norms; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-12), np.float32)
