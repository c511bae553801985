"""A causal language model, its tokenizer, and its device."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.lm.caches.prefix_cache import PrefixCache, RowCache
from generator.lm.decode_step import compiled_steps, forward
from generator.lm.detokenizer import TextStream
from generator.lm.language_model import LanguageModel, Writing, needs_internals, room_after
from generator.lm.sampling import Sampler, Sampling
from generator.ms_poe.position_method import active_settings
from generator.prompt.chat_template import Chat
from generator.prompt.follow_up import ConversationCache
from indexing.errors import UnsupportedModel
from indexing.message import Notify
from indexing.models.device import best_device, best_dtype
from indexing.models.files import DEFAULT_GENERATOR, Weights, generator_weights
from indexing.models.loading import loading
from indexing.models.runtime import keep_memory
from indexing.models.server.server_name import is_remote
from indexing.models.weight_changes import merge_lora

if TYPE_CHECKING:
    import torch

    from generator.lm.word_constraint import WordConstraint

ADAPTERS = Path(__file__).with_name("writer.safetensors")
"""The writer: low-rank adapters with which the packaged model answers from a handful of quotes
(`training/writer`; docs/notebook/experiments.md has the figures)."""

PREFILL_CHUNK = 256
"""Tokens of a prompt that are read at once; between them an answer can be stopped."""

_UNKNOWN_WINDOW = 2048  # tokens, for models that state no limit
_LOADING_ERRORS = (OSError, ValueError, KeyError, TypeError, RuntimeError, ImportError)
_SANE_WINDOW = 10_000_000  # tokenizers without a limit state 1e30
_GROUPED = "TRANSFORMERS_SDPA_FORCE_GQA"
"""Makes transformers read shared keys where they lie. Otherwise they are copied for every head that
shares them, in each layer, where a text goes on after a cache or rows are padded."""


class CausalModel(LanguageModel):
    """Any transformers causal language model: text in, text out, one token at a time.

    Attributes, beside those of `LanguageModel`:
        eos_token_ids: Token ids that end an answer.
        prefixes: Keys and values of what was read, for prompts that begin in the same way.
        rows: Keys and values of single documents.
        decode_step: How it takes single tokens.
        device: Where it runs.
        dtype: What it computes in.
    """

    def __init__(self, weights: Weights, model: Any, tokenizer: Any) -> None:  # noqa: ANN401
        self.name, self.revision = weights.name, weights.revision
        self.model, self.tokenizer = model, tokenizer
        self.chat = Chat(tokenizer)
        self.window = _window(model.config, tokenizer)
        self.device: torch.device = model.device
        self.dtype: torch.dtype = model.dtype
        self.eos_token_ids = _eos_token_ids(model, tokenizer)
        self._exit_stack = ExitStack()  # for as long as there is a model
        self.decode_step = self._exit_stack.enter_context(compiled_steps(model, weights.folder))
        self.prefixes = PrefixCache()
        self.rows = RowCache()
        self.conversations = ConversationCache()

    @classmethod
    def load(
        cls,
        name: str = DEFAULT_GENERATOR,  # or a folder, a `.gguf` file, or a hub name
        *,
        device: str | None = None,  # "cpu", "cuda" or "mps"; None for the best there is
        dtype: torch.dtype | None = None,  # None: bfloat16 where the device is fast in it
        notify: Notify | None = None,  # told, in one line, about anything that takes long
        adapters: Path | None = None,  # a file of low-rank adapters that are merged into it
    ) -> CausalModel:
        """Find the model's files and load them.

        Raises:
            ModelNotFound: No weights by that name.
            UnsupportedModel: They cannot be loaded as a causal language model.
            InvalidRequest: It is a server's model, which can only be asked.
        """
        import torch
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        if is_remote(name):
            raise needs_internals("this", name, "a folder or a hub name")
        weights = generator_weights(name, notify=notify)
        if best_device().type == "cpu":  # there is no device in this process that it would slow
            os.environ.setdefault(_GROUPED, "1")
        where = torch.device(device) if device else best_device()
        if where.type == "cpu":
            keep_memory()
        try:
            model, tokenizer = _from_folder(weights, dtype or best_dtype(where))
            if adapters is not None:
                merge_lora(model, load_file(adapters))
            return cls(weights, model.to(where).eval(), tokenizer)
        except (*_LOADING_ERRORS, SafetensorError) as error:
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise UnsupportedModel(
                f"{name} ({weights.folder}) cannot be loaded as a causal language model: {why}; "
                "choose another model, or fetch this one again"
            ) from error

    def write(
        self,
        prompt: Sequence[int],
        *,
        max_new_tokens: int,
        sampling: Sampling | None = None,
        stop: threading.Event | None = None,
        stops: Sequence[str] = (),
    ) -> Writing:
        """As of `LanguageModel`."""
        limit = min(max_new_tokens, room_after(prompt, self))
        written: list[int] = []
        tokens = self.tokens(prompt, sampling=sampling or Sampling(), limit=limit, stop=stop)
        pieces = self.detokenize(_record(tokens, written), stop=stop, stops=stops)
        return Writing(pieces, lambda: tuple(written))

    def detokenize(
        self,
        tokens: Generator[int],
        *,
        stop: threading.Event | None = None,
        stops: Sequence[str] = (),
    ) -> Generator[str]:
        """Tokens as pieces of text that are never taken back; arguments as in `stream`."""
        text = TextStream(self.decode, stops=stops)
        with closing(tokens):
            for token in tokens:
                if stop is not None and stop.is_set():
                    break
                if piece := text.push(token):
                    yield piece
                if text.stopped:
                    break
        if rest := text.finish():
            yield rest

    def tokens(
        self,
        prompt: Sequence[int],
        *,
        sampling: Sampling,
        limit: int,
        stop: threading.Event | None = None,
        constraint: WordConstraint | None = None,
    ) -> Generator[int]:
        """Token ids of an answer, up to `limit` or to the token that ends it (left out).

        What `prefixes` holds of the prompt is not read again. The rest is read in chunks, and
        `stop` is looked at before each, so that a long prompt does not delay it.
        """
        import torch

        sample = Sampler(sampling, self.device, constraint=constraint)
        tag = active_settings(self.model)
        again = tag is None or not tag.by_prompt  # else ratios belong to one prompt
        cache, known = self.prefixes.take(prompt, tag=tag) if again else (None, 0)
        read, fed = list(prompt[:known]), list(prompt[known:])
        try:
            for _ in range(limit):
                for chunk in prefill_chunks(fed, whole=not again):
                    if stop is not None and stop.is_set():
                        return
                    ids = torch.tensor([chunk], device=self.device)
                    logits, cache = forward(self.model, ids, cache)
                    read += chunk
                token = sample(logits[0, -1].float())
                fed = [token]
                if token in self.eos_token_ids:
                    return
                yield token
        finally:
            if again:
                self.prefixes.keep(read, cache, tag=tag)

    def decode(self, tokens: Sequence[int]) -> str:
        """Token ids to text, control tokens left out."""
        return str(
            self.tokenizer.decode(
                list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )


def _record(tokens: Generator[int], written: list[int]) -> Generator[int]:
    """The same tokens, recorded."""
    with closing(tokens):
        for token in tokens:
            written.append(token)
            yield token


def prefill_chunks(ids: Sequence[int], *, whole: bool) -> list[list[int]]:
    """A prompt in the chunks in which it is read; `whole`, as Ms-PoE looks at all of it, in one."""
    size = len(ids) if whole else PREFILL_CHUNK
    return [list(ids[start : start + size]) for start in range(0, len(ids), max(1, size))]


def _from_folder(weights: Weights, dtype: torch.dtype) -> tuple[Any, Any]:
    """Model and tokenizer; nothing is fetched, unpickled or run from the folder."""
    with loading():
        from transformers import AutoModelForCausalLM, AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(
            weights.folder, local_files_only=True, trust_remote_code=False
        )
        model = AutoModelForCausalLM.from_pretrained(
            weights.folder,
            dtype=dtype,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
        )
    if model.config.is_encoder_decoder or getattr(model, "_is_stateful", False):
        raise ValueError(f"{model.config.model_type} keeps no key/value cache to decode with")
    return model, tokenizer


def _window(config: Any, tokenizer: Any) -> int:  # noqa: ANN401
    limits = [
        getattr(config.get_text_config(), "max_position_embeddings", None),
        tokenizer.model_max_length,
    ]
    sane = [int(limit) for limit in limits if limit and 0 < limit < _SANE_WINDOW]
    return min(sane, default=_UNKNOWN_WINDOW)


def _eos_token_ids(model: Any, tokenizer: Any) -> frozenset[int]:  # noqa: ANN401
    """Every token that ends an answer: a model may have several, its tokenizer names one."""
    ids = model.generation_config.eos_token_id
    several = ids if isinstance(ids, list) else [ids]
    return frozenset(token for token in [*several, tokenizer.eos_token_id] if token is not None)
