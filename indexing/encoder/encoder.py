"""A whole document in, its vector and its passages' vectors out, in one pass.

The token stream is split into context windows (parallel context windows, PCW: Zhu et al.,
arXiv 2404.12096, section 4.1). Each window is run once. The document's vector is the mean of the
windows' pooled vectors; a passage's vector is the mean of its own token states, which have seen the
window around them (late chunking, Günther et al., arXiv 2409.04701). Both are L2-normalised.

A batch holds windows of one document only, and these are all of one length. So nothing is ever
padded, and a document's vectors do not depend, to the last bit, on what else is encoded: matrix
products of another number of rows may round in another way. Queries are many and short, so these
are padded, each to a length that follows from its own, in batches that are filled up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from indexing.documents import Document, Passage
from indexing.encoder.cpu_layers import cpu_layers
from indexing.encoder.fingerprint import WITHIN_MODEL, Fingerprint
from indexing.encoder.pooling import EncodedDocument, PassagePooling, token_spans, unit
from indexing.encoder.settings import DTYPES, EncoderSettings
from indexing.encoder.tokenizer import Tokens
from indexing.errors import InvalidRequest, MissingDependency, ModelError, UnsupportedModel
from indexing.extension import (
    METHODS,
    TunedPositions,
    build_method,
    extend,
    recognise,
    split_entropy,
    supported,
)
from indexing.extension.pcw import windows
from indexing.models.device import best_device, best_dtype
from indexing.models.files import Weights, encoder_weights
from indexing.models.loading import loading

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer
    from torch import nn

    from indexing.encoder.mean_model import MeanModel

T = TypeVar("T", bound="nn.Module")

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
Rows = tuple[FloatArray, FloatArray]  # (B, d) pooled, (B, T, h) states of B windows
Run = Callable[[IntArray, int], Rows]

TOKENS_PER_BATCH = 4096
QUERY_TOKENS = 192  # a CPU gains little from more
EXTENDED_LENGTH = 4096  # tokens of a window under the methods that extend the model, by default


class Encoder:
    """A sentence-transformers model applied to whole documents.

    Attributes:
        fingerprint: How its vectors are made.
        layers: How many of its layers run in compiled code, or have packed weights.
        kept: Gives windows of documents, by running what it has not kept; None to run all.

    Raises:
        ModelNotFound: No such model here.
        ModelError: Its files cannot be loaded.
        MissingDependency: It needs sentence-transformers, which is not installed.
        UnsupportedModel: It cannot read that far, has no pooling, or no character offsets.
        InvalidRequest: A setting that does not exist, or windows without room for text.
        UnreadableFile: "tuned:FILE" names no file of tuned positions, or another than it was.
    """

    kept: Callable[[Run, IntArray, int], Rows] | None = None

    def __init__(
        self,
        settings: EncoderSettings | None = None,  # which model, and how
        *,
        # called with a sentence when something takes long (loading, converting)
        notify: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings or EncoderSettings()
        tuned = _check(self.settings)
        self.weights: Weights = encoder_weights(self.settings.model, notify=notify)
        self.model: SentenceTransformer  # or what of it is needed
        self.model, self.dtype = lightest_model(self.weights, self.settings)
        self._held = ExitStack()  # for as long as there is an encoder
        plain = self.settings.extension in WITHIN_MODEL
        layers = cpu_layers(self.model, rows=TOKENS_PER_BATCH, plain=plain)
        self.layers = self._held.enter_context(layers)
        self._tokens = Tokens.of(self.model)
        self.max_length = _window_length(self.model, self.settings, tuned)
        around = max(self._tokens.around_document, self._tokens.around_query)
        windows(1, self.max_length - around)  # refuses windows without room
        if self.settings.extension not in WITHIN_MODEL:
            name, entropy = split_entropy(self.settings.extension)
            extend(
                self.model, tuned or build_method(name, max_length=self.max_length), entropy=entropy
            )
        self.fingerprint = Fingerprint(
            model=_lasting_name(self.weights),
            revision=self.weights.revision,
            extension=tuned.pinned() if tuned else self.settings.extension,
            max_length=self.max_length,
            pooling=pooling_name(self.model),
            dtype=self.dtype,
            dimension=int(self.model.get_embedding_dimension() or 0),
        )

    def encode(
        self,
        documents: Sequence[tuple[Document, Sequence[Passage]]],  # each with its passages, in order
        *,
        # called with the number of tokens just encoded
        progress: Callable[[int], None] | None = None,
    ) -> list[EncodedDocument]:
        """Encode documents, each as if it were the only one.

        A text in which the tokenizer finds nothing gets the vector of the empty text, and its
        passages get zero rows.
        """
        return [self._encode(one, passages, progress) for one, passages in documents]

    def _encode(
        self,
        document: Document,
        passages: Sequence[Passage],
        progress: Callable[[int], None] | None,
    ) -> EncodedDocument:
        ids, offsets = self._tokens.ids(document.text)
        spans = self._windows(len(ids))
        pooling = PassagePooling.over(token_spans(offsets, passages), spans, self._width)
        total = np.zeros(self.fingerprint.dimension, np.float32)
        skip, size = self._tokens.before_document, spans[0][1] - spans[0][0]
        at_once = max(1, TOKENS_PER_BATCH // max(size, 1))
        for batch in (spans[at : at + at_once] for at in range(0, len(spans), at_once)):
            rows = np.stack([self._tokens.document(ids[start:end]) for start, end in batch])
            run = self._forward if self.kept is None else partial(self.kept, self._forward)
            pooled, states = run(rows, skip)
            total += pooled.sum(axis=0)
            for (start, end), state in zip(batch, states, strict=True):
                pooling.add(start, state[skip : skip + end - start])
            if progress:
                progress(len(batch) * size)
        return EncodedDocument(
            vector=unit(total[None] / len(spans))[0],
            passages=unit(self._after_pooling(pooling.means())),
            tokens=len(ids),
            encoded=max(end for _, end in spans),
        )

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Encode queries, (n, d) float32 with unit rows. A query is never windowed, only cut.

        A text's vector does not depend on its company, to the last bit: it runs in a batch whose
        shape follows from its own length, filled up where there are fewer texts.
        """
        if not texts:
            return np.zeros((0, self.fingerprint.dimension), np.float32)
        rows = [self._tokens.query(self._tokens.ids(text)[0], self.max_length) for text in texts]
        vectors = np.zeros((len(rows), self.fingerprint.dimension), np.float32)
        at_once = QUERY_TOKENS if self.model.device.type == "cpu" else TOKENS_PER_BATCH
        width = [_query_width(len(row), self.max_length) for row in rows]
        order = sorted(range(len(rows)), key=width.__getitem__)
        for length, group in groupby(order, key=width.__getitem__):
            same, size = list(group), max(1, at_once // length)
            for at in range(0, len(same), size):
                some = same[at : at + size]
                vectors[some] = self._queries([rows[i] for i in some], (size, length))
        return unit(vectors)

    def _queries(self, rows: Sequence[IntArray], shape: tuple[int, int]) -> FloatArray:
        """Pooled vectors of token rows, run as a batch of this shape."""
        ids = np.full(shape, self.model.tokenizer.pad_token_id or 0, np.int64)
        mask = np.zeros(shape, np.int64)
        mask[:, 0] = 1
        for i, row in enumerate(rows):
            ids[i, : len(row)], mask[i, : len(row)] = row, 1
        return self._forward(ids, self._tokens.before_query, mask)[0][: len(rows)]

    def offsets_of(self, text: str) -> IntArray:
        """The characters (n, 2) of each token of a text, special tokens left out."""
        return self._tokens.ids(text)[1]

    @property
    def window_tokens(self) -> int:
        """Tokens of text in a window, without special tokens and prompt."""
        return self.max_length - self._tokens.around_document

    def _windows(self, n_tokens: int) -> list[tuple[int, int]]:
        """The windows over a document, at least one, all of the same length."""
        spans = windows(n_tokens, self.window_tokens) or [(0, 0)]
        return spans[:1] if self.settings.extension == "none" else spans

    @property
    def _width(self) -> int:
        """h, the dimension of token states."""
        return int(self.model[0].get_embedding_dimension())

    def _forward(self, ids: IntArray, skip: int, mask: IntArray | None = None) -> Rows:
        """Pooled vectors (B, d), not normalised, and token states (B, T, h) of token rows (B, T).

        A model that leaves its prompt out of the pooling leaves out the first `skip` tokens.
        """
        import torch

        rows = torch.from_numpy(ids).to(self.model.device)
        real = torch.ones_like(rows) if mask is None else torch.from_numpy(mask).to(rows.device)
        features: dict[str, Any] = {"input_ids": rows, "attention_mask": real}
        if skip > len(self._tokens.head):
            features["prompt_length"] = skip
        if "token_type_ids" in self.model.tokenizer.model_input_names:
            features["token_type_ids"] = torch.zeros_like(rows)
        before, after = pipeline(self.model)
        with torch.inference_mode():
            for module in (*before, *after):
                features = module(features)
            pooled = features["sentence_embedding"].float().cpu().numpy()
            states = features["token_embeddings"].float().cpu().numpy()
        return pooled, states

    def _after_pooling(self, means: FloatArray) -> FloatArray:
        """Mean token states (p, h) to where the model's vectors lie, (p, d)."""
        import torch

        _, after = pipeline(self.model)
        if not after:
            return means
        rows = torch.from_numpy(means).to(self.model.device, self.model.dtype)
        features = {"sentence_embedding": rows}
        with torch.inference_mode():
            for module in after:
                features = module(features)
        vectors: FloatArray = features["sentence_embedding"].float().cpu().numpy()
        vectors[~means.any(axis=1)] = 0
        return vectors


def load_model(weights: Weights, settings: EncoderSettings) -> tuple[SentenceTransformer, str]:
    """The model as sentence-transformers loads it, in the settings' dtype, and that dtype's name.

    Raises:
        ModelError: Its files cannot be loaded.
        MissingDependency: sentence-transformers is not installed.
    """
    try:
        with loading():
            from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        within = settings.extension in WITHIN_MODEL
        purpose = settings.model + ("" if within else f" with extension {settings.extension}")
        install = 'pip install "rag-app[hub]"'
        raise MissingDependency("sentence-transformers", purpose, install) from error

    def load(device: torch.device) -> SentenceTransformer:
        return SentenceTransformer(
            str(weights.folder),
            device=str(device),
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )

    return _loaded(load, settings)


def lightest_model(
    weights: Weights, settings: EncoderSettings
) -> tuple[SentenceTransformer | MeanModel, str]:
    """The same as `load_model`, without that library where the model needs nothing of it."""
    from indexing.encoder.mean_model import MeanModel, is_mean_model

    if settings.extension in WITHIN_MODEL and is_mean_model(weights):
        return _loaded(lambda device: MeanModel(weights.folder).to(device), settings)
    return load_model(weights, settings)


def _loaded(load: Callable[[torch.device], T], settings: EncoderSettings) -> tuple[T, str]:
    import torch

    from indexing.nn.contextual_bert import register

    register()
    device = _device(settings.device)
    if settings.dtype == "auto":
        dtype = best_dtype(device)
    else:
        dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[settings.dtype]
    try:
        with loading():
            model = load(device)
    except Exception as error:  # whatever a damaged folder makes the libraries raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise ModelError(
            f"{settings.model} cannot be loaded as an encoder ({reason}); "
            "name a sentence-transformers model with safetensors weights"
        ) from error
    for parameter in model.parameters():  # not the buffers: rotary frequencies need float32
        parameter.data = parameter.data.to(dtype)
    return model.eval(), str(dtype).removeprefix("torch.")


def _check(settings: EncoderSettings) -> TunedPositions | None:
    """Refuse what no encoder has, before one is loaded; the tuned positions, if there are any.

    Raises:
        InvalidRequest: An unknown extension or dtype, or another length than was tuned for.
        UnreadableFile: There is no file of tuned positions of that name.
    """
    if settings.dtype not in DTYPES:
        raise InvalidRequest(f"no dtype {settings.dtype!r} here; there are: {', '.join(DTYPES)}")
    name, _ = split_entropy(settings.extension)
    if name in METHODS:
        return None
    method = build_method(name, max_length=settings.max_length)
    return method if isinstance(method, TunedPositions) else None


def _device(name: str) -> torch.device:
    import torch

    try:
        return best_device() if name == "auto" else torch.device(name)
    except RuntimeError as error:
        raise InvalidRequest(f"no device {name!r}; name auto, cpu, cuda or mps") from error


def _lasting_name(weights: Weights) -> str:
    """A name under which the same weights are found from any working folder."""
    return weights.name if weights.source != "folder" else str(Path(weights.name).resolve())


def _window_length(
    model: SentenceTransformer, settings: EncoderSettings, tuned: TunedPositions | None
) -> int:
    """Tokens of one window: the person's choice, or what suits model and method."""
    if tuned:
        return tuned.record().max_length
    if settings.extension not in WITHIN_MODEL:
        return settings.max_length or EXTENDED_LENGTH
    limit = recognise(model).original
    length = settings.max_length or min(int(model.max_seq_length or limit), limit)
    if length > limit:
        further = [name for name in supported(model) if name not in WITHIN_MODEL]
        raise UnsupportedModel(
            f"{settings.model} reads at most {limit} tokens at once, not {length}; choose "
            f"--max-length {limit} or less, or one of --extension {', '.join(further)}"
        )
    return length


def pooling_name(model: SentenceTransformer | MeanModel) -> str:
    """How token states become one vector, by the library's name of it."""
    before, _ = pipeline(model)
    return str(before[-1].pooling_mode)


def pipeline(model: SentenceTransformer | MeanModel) -> tuple[list[Any], list[Any]]:
    """The modules up to the pooling, and those after it; without those that normalise.

    Raises:
        UnsupportedModel: There is no pooling.
    """
    from indexing.encoder.mean_model import MeanModel

    if isinstance(model, MeanModel):
        return [*model], []
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling

    parts = [module for module in model if not isinstance(module, Normalize)]
    for at, module in enumerate(parts, 1):
        if isinstance(module, Pooling):
            return parts[:at], parts[at:]
    raise UnsupportedModel("this encoder has no pooling layer; name a sentence-transformers model")


def _query_width(tokens: int, most: int) -> int:
    """The length that a query of so many tokens is padded to: by half at most."""
    step = 1 << max(0, tokens.bit_length() - 2)
    return min(-(-tokens // step) * step, max(tokens, most))
