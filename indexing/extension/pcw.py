"""PCW, parallel context windows: each window by itself, then the mean (LongEmbed, 2404.12096, 4.1).

Windows are cut out of the token ids of the whole text, which is tokenised once: decoding a window
and tokenising it again would lose tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.extension.method import Extension
from indexing.extension.table import WORKS_ON
from indexing.nn.architecture import Architecture
from indexing.nn.hooks import override_attribute

if TYPE_CHECKING:
    from typing import Self

    from sentence_transformers import SentenceTransformer
    from torch import Tensor, nn
    from transformers import PreTrainedTokenizerBase

_OWNER = "window_owner"

Features = dict[str, Any]


def windows(n_tokens: int, size: int) -> list[tuple[int, int]]:
    """The windows over a text of so many tokens: (start, end), end exclusive.

    They lie side by side. A short last one is taken from the end, so that it is as long as the
    others and overlaps the one before. A text shorter than a window is one window; no tokens have
    no window.

    Raises:
        InvalidRequest: The size is not positive.
    """
    if size < 1:
        msg = f"no room for text in a window: {size} tokens are left beside prefix and special ones"
        raise InvalidRequest(msg)
    starts = [max(0, min(start, n_tokens - size)) for start in range(0, n_tokens, size)]
    return [(start, min(start + size, n_tokens)) for start in starts]


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands before and after the text in every sequence: prefix and special tokens."""

    head: int  # tokens before the text, the prefix of a prompt included
    tail: int  # tokens after it

    def cut(self, n_tokens: int, window: int) -> list[list[int]]:
        """Indexes into a framed sequence of `n_tokens`, for each window with its frame.

        Args:
            n_tokens: Length of the sequence with its frame.
            window: L_o, what a window may hold with its frame.
        """
        text = n_tokens - self.head - self.tail
        before, after = range(self.head), range(n_tokens - self.tail, n_tokens)
        return [
            [*before, *range(self.head + start, self.head + end), *after]
            for start, end in windows(text, window - self.head - self.tail)
        ]


@dataclass(frozen=True, kw_only=True)
class ParallelWindows(Extension):
    """Windows of L_o tokens, each with prefix and special tokens; their mean is the document.

    There is no s. A text within the original window is one window, encoded exactly as before.
    The mean is of the unnormalised window vectors, and is normalised if the pipeline does so.
    Queries are never windowed but cut at the original window: that is what `encode_query` gets,
    and `encode` with the model's query prompt. Empty texts raise InvalidRequest.
    """

    name: ClassVar[str] = "pcw"
    works_on = WORKS_ON[name]

    batch_size: int = 32  # how many windows go through the transformer at a time

    def check(self, arch: Architecture) -> None:
        """Refuses an original length that the model does not have."""
        super().check(arch)
        if arch.positions == "absolute" and self.window(arch) > arch.original:
            msg = f"{arch.class_name} has {arch.original} positions, not {self.original}"
            raise UnsupportedModel(f"{msg}; give a smaller original length")

    def max_tokens(self) -> int | None:
        """Windows are checked as they are cut."""
        return None

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """Cuts windows after tokenising, and averages them before normalising."""
        cutter = _WindowCutter(model, model.preprocess, self.window(arch))
        averager = _WindowAverager(model, model.forward, self.batch_size)
        yield override_attribute(model, "preprocess", cutter)
        yield override_attribute(model, "forward", averager)

    def identity(self) -> Self | None:
        """Nothing to prove: the transformer is not touched."""
        return None

    def active(self) -> Self | None:
        """Nothing to prove: the transformer is not touched."""
        return None


class _WindowCutter:
    """Stands in for `SentenceTransformer.preprocess`."""

    def __init__(
        self, model: SentenceTransformer, plain: Callable[..., Features], window: int
    ) -> None:
        self.model = model
        self.plain = plain
        self.window = window
        self.special = special_tokens(model.tokenizer)

    def __call__(
        self, inputs: Sequence[Any], prompt: str | None = None, **options: object
    ) -> Features:
        """Features of all windows of all texts, and whose they are under `window_owner`."""
        features = self.plain(inputs, prompt=prompt, **options)
        frame = self._frame(prompt)
        lengths = features["attention_mask"].sum(dim=1).tolist()
        for text, length in enumerate(lengths):
            if length <= frame.head + frame.tail:
                msg = f"text {text} of the batch is empty; leave empty documents out"
                raise InvalidRequest(msg)
        if max(lengths) <= self.window:
            return features
        cuts = [frame.cut(length, self.window) for length in lengths]
        if self._is_query(prompt, options.get("task")):
            from_left = self.model.tokenizer.truncation_side == "left"
            cuts = [cut[-1:] if from_left else cut[:1] for cut in cuts]
        return self._gather(features, cuts)

    def _frame(self, prompt: str | None) -> Frame:
        """Special tokens and the prompt's own, as far as they open every text alike.

        A prompt's last token may melt into the text (a trailing space does in many tokenizers);
        such a token belongs to the text.
        """
        if not prompt:
            return self.special
        tokenizer = self.model.tokenizer
        encoded = [tokenizer(prompt + text)["input_ids"] for text in ("", "a", "1", "(")]
        shared = 0
        while all(len(ids) > shared and ids[shared] == encoded[1][shared] for ids in encoded):
            shared += 1
        return Frame(min(shared, len(encoded[0]) - self.special.tail), self.special.tail)

    def _is_query(self, prompt: str | None, task: object) -> bool:
        prompts = self.model.prompts
        known = prompts.get("query")
        same = known == prompts.get("document")
        return task == "query" or bool(prompt and prompt == known and not same)

    def _gather(self, features: Features, cuts: list[list[list[int]]]) -> Features:
        """The features of all windows, padded on the right whatever the tokenizer does."""
        import torch
        from torch.nn.utils.rnn import pad_sequence

        real = features["attention_mask"].bool()
        shape = features["input_ids"].shape
        padding = {"input_ids": self.model.tokenizer.pad_token_id or 0}
        windowed = dict(features)
        for name, value in features.items():
            if isinstance(value, torch.Tensor) and value.shape == shape:
                rows = [value[row][real[row]][cut] for row, c in enumerate(cuts) for cut in c]
                windowed[name] = pad_sequence(
                    rows, batch_first=True, padding_value=padding.get(name, 0)
                )
        windowed[_OWNER] = torch.tensor([row for row, c in enumerate(cuts) for _ in c])
        return windowed


class _WindowAverager:
    """Stands in for `SentenceTransformer.forward`."""

    def __init__(
        self, model: SentenceTransformer, plain: Callable[..., Features], batch_size: int
    ) -> None:
        self.model = model
        self.plain = plain
        self.batch_size = batch_size

    def __call__(self, features: Features, **options: object) -> Features:
        """Document vectors under "sentence_embedding", as the untouched pipeline gives them."""
        if _OWNER not in features:
            return self.plain(features, **options)
        owner = features[_OWNER]
        modules = list(self.model.named_children())
        split = _before_normalising(modules)
        vectors = self._vectors(features, modules[:split], options)
        documents = int(owner.max()) + 1
        counts = owner.bincount(minlength=documents)
        sums = vectors.new_zeros(documents, vectors.shape[1]).index_add(0, owner, vectors)
        output: Features = {"sentence_embedding": sums / counts[:, None]}
        for _, module in modules[split:]:
            output = module(output)
        return output

    def _vectors(
        self, features: Features, modules: list[tuple[str, Any]], options: dict[str, object]
    ) -> Tensor:
        """The unnormalised vector of every window, longest windows first through the model."""
        import torch

        mask = features["attention_mask"]
        lengths = mask.sum(dim=1)
        order = lengths.argsort(descending=True, stable=True)
        vectors = []
        for rows in order.split(self.batch_size):
            width = int(lengths[rows].max())
            part = {
                name: value[rows, :width]
                if isinstance(value, torch.Tensor) and value.shape == mask.shape
                else value
                for name, value in features.items()
                if name != _OWNER
            }
            for name, module in modules:
                part = module(part, **self._options(name, module, options))
            vectors.append(part["sentence_embedding"])
        return torch.cat(vectors)[order.argsort()]

    def _options(
        self, name: str, module: nn.Module, options: dict[str, object]
    ) -> dict[str, object]:
        """The keyword arguments that a module of the pipeline takes."""
        accepted = {
            *(self.model.module_kwargs or {}).get(name, ()),
            *getattr(module, "forward_kwargs", ()),
        }
        return {key: value for key, value in options.items() if key in accepted}


def special_tokens(tokenizer: PreTrainedTokenizerBase) -> Frame:
    """How many special tokens a tokenizer puts before and after a text.

    Raises:
        UnsupportedModel: It does not simply put some before and some after.
    """
    probe = "a b c"
    bare = tokenizer(probe, add_special_tokens=False)["input_ids"]
    full = tokenizer(probe)["input_ids"]
    for head in range(len(full) - len(bare) + 1):
        if bare and full[head : head + len(bare)] == bare:
            return Frame(head, len(full) - len(bare) - head)
    msg = "the tokenizer does more than to add special tokens before and after; pcw needs that"
    raise UnsupportedModel(msg)


def _before_normalising(modules: list[tuple[str, Any]]) -> int:
    """The index of the first module that normalises the document vector."""
    from sentence_transformers.sentence_transformer.modules import Normalize

    for index, (_, module) in enumerate(modules):
        if isinstance(module, Normalize) and module.module_input_name == "sentence_embedding":
            return index
    return len(modules)
