"""A GGUF file that llama.cpp runs in this process, quantized as it is.

Nothing is converted, and memory is about the file's size. Prompts that begin alike are not read
again. What needs a model's inside (Ms-PoE, RAG-Token) is for `causal_lm`.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

from generator.lm.gguf.llama_server import LlamaServer, Values
from generator.lm.language_model import LanguageModel, Writing, room_after
from generator.lm.sampling import Sampling
from generator.prompt.chat_template import Chat
from generator.prompt.follow_up import ConversationCache
from indexing.errors import ModelNotFound, ServerFailed
from indexing.message import Notify
from indexing.models.files import content_hash

WINDOW = 8192
"""Tokens of a prompt and its answer, unless more are asked for: keys and values take memory."""


class LlamaCppModel(LanguageModel):
    """A model in llama.cpp, by the path of a `.gguf` file: token ids in, text out.

    A prompt and its answer have at most so many tokens; the model may allow fewer.

    Raises:
        ModelNotFound: There is no such file.
        MissingDependency: llama.cpp is not installed.
        UnsupportedModel: It cannot read the file.
    """

    def __init__(self, name: str, *, window: int = WINDOW, notify: Notify | None = None) -> None:
        file = Path(name).expanduser()
        if not file.is_file():
            raise ModelNotFound(f"{name}: there is no such file; give the path of a .gguf file")
        if notify:
            notify(f"loading {file.name} ({file.stat().st_size / 1e9:.1f} GB)")
        self.name, self.revision = name, content_hash([file])
        self._server = LlamaServer(file, window=window)
        self._properties = self._server.properties()
        self.window = int(self._properties["default_generation_settings"]["n_ctx"])
        self.chat = Chat(_Tokenizer(self._server, self._properties))
        self.conversations = ConversationCache()

    def close(self) -> None:
        """Give back its memory."""
        self._server.close()

    def write(
        self,
        prompt: Sequence[int],
        *,
        max_new_tokens: int,
        sampling: Sampling | None = None,
        stop: threading.Event | None = None,
        stops: Sequence[str] = (),
    ) -> Writing:
        """As of `LanguageModel`; a text ends before it writes a run of tokens a second time."""
        sampling = sampling or Sampling()
        values = {
            "prompt": list(prompt),
            "n_predict": min(max_new_tokens, room_after(prompt, self)),
            "stop": list(stops),
            "cache_prompt": True,
            "return_tokens": True,
            "return_progress": True,  # or nothing says that nobody waits any more
            **_sampling(sampling),
        }
        written: list[str] = []
        pieces = self._pieces(values, sampling.no_repeat, stop, written)
        return Writing(pieces, lambda: self.chat.content("".join(written)))

    def _pieces(
        self, values: Values, no_repeat: int, stop: threading.Event | None, written: list[str]
    ) -> Generator[str]:
        ids: list[int] = []
        for event in self._server.stream("/completion", values, stop=stop):
            if stop is not None and stop.is_set():
                return
            if "prompt_progress" in event or not (piece := event["content"]):
                continue
            ids += event["tokens"]
            if no_repeat and _repeats(ids, no_repeat):
                return
            written.append(piece)
            yield piece


class _Tokenizer:
    """llama.cpp's tokenizer and template, as `Chat` asks for them."""

    def __init__(self, server: LlamaServer, properties: Any) -> None:  # noqa: ANN401
        self._server = server
        self.chat_template = properties["chat_template"]
        self.added_tokens_decoder: dict[int, object] = {}  # as no text becomes a control token
        self.all_special_ids: list[int] = []
        first = self._tokens("", add_special=True)
        self.bos_token_id = first[0] if first else None
        self._first = properties["bos_token"] if first else ""

    def __call__(self, text: str, *, split_special_tokens: bool = False, **_: object) -> Any:  # noqa: ANN401
        return {"input_ids": self._tokens(text, parse_special=not split_special_tokens)}

    def apply_chat_template(self, messages: Sequence[dict[str, str]], **_: object) -> str:
        """Messages in the model's template; `ValueError` where it does not take them."""
        try:
            text = str(self._server.ask("/apply-template", {"messages": messages})["prompt"])
        except ServerFailed as error:
            raise ValueError(str(error)) from error
        return text if text.startswith(self._first) else self._first + text

    def _tokens(
        self, text: str, *, add_special: bool = False, parse_special: bool = True
    ) -> list[int]:
        values = {"content": text, "add_special": add_special, "parse_special": parse_special}
        return list(self._server.ask("/tokenize", values)["tokens"])


def _sampling(sampling: Sampling) -> dict[str, object]:
    """How llama.cpp is to choose tokens: by temperature and top-p, nothing else."""
    return {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "samplers": ["top_p", "temperature"],
        "repeat_penalty": 1.0,
    }


def _repeats(ids: Sequence[int], length: int) -> bool:
    """Whether the last run of `length` tokens was written before."""
    last = list(ids[-length:])
    starts = range(len(ids) - length)
    return any(list(ids[i : i + length]) == last for i in starts)
