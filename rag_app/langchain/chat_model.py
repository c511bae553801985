"""A language model on this machine as LangChain's chat model."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any, Literal
from weakref import WeakValueDictionary

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models.base import LangSmithParams
from langchain_core.language_models.chat_models import BaseChatModel, generate_from_stream
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
)
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from pydantic import ConfigDict, Field, PrivateAttr

from generator.lm.causal_lm import CausalModel
from generator.lm.language_model import needs_internals
from generator.lm.ms_poe_policy import MsPoEPolicy, apply_policy, choose_policy
from generator.lm.sampling import Sampling
from generator.ms_poe.method import MsPoE
from generator.prompt.chat_template import ChatMessage, Rendered, Role
from indexing.errors import InvalidRequest
from indexing.models.files import DEFAULT_GENERATOR
from indexing.models.server.server_name import is_remote

ROLES: dict[type[BaseMessage], Role] = {
    SystemMessage: "system",
    HumanMessage: "user",
    AIMessage: "assistant",
}
PER_CALL = ("model", "temperature", "top_p", "seed", "max_tokens", "timeout")


class ChatRagApp(BaseChatModel):
    """A causal language model on this machine, with Ms-PoE where calibration found it to help.

    Messages cannot inject control tokens: text that looks like one is encoded as plain characters.
    Text only; no tools.

    Models of equal name, device and `ms_poe` share their weights, which are loaded at first use.

    Attributes:
        model: A packaged name, a folder, a `.gguf` file, or a hub name.
        temperature: 0 for the likeliest token; higher is more varied.
        top_p: Samples among the likeliest tokens that hold this share of the probability.
        seed: Equal seeds give equal answers on one machine.
        max_tokens: Most tokens of an answer.
        stop: Texts that end an answer and are not part of it.
        timeout: Seconds after which an answer ends as it is; None for no limit.
        ms_poe: When Ms-PoE is on: one of `ms_poe_policy.MS_POE`, "calibrated" for where
            `rag-app calibrate` found it to help; or settings of your own.
        device: "cpu", "cuda" or "mps"; None for the best there is.
        streaming: Whether `invoke` hands on pieces to callbacks as well.

    All up to `max_tokens`, and `timeout`, can be given with a call too. An answer's
    `response_metadata` has `finish_reason`: "stop", "length" or "timeout".
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    model: str = DEFAULT_GENERATOR
    temperature: float = Field(default=0.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int = 0
    max_tokens: int = Field(default=256, ge=1)
    stop: list[str] | None = None
    timeout: float | None = Field(default=None, gt=0)
    ms_poe: MsPoE | Literal["calibrated", "on", "off"] = "calibrated"
    device: str | None = None
    streaming: bool = False

    _models: dict[str, _SharedModel] = PrivateAttr(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "rag-app"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        names = (*PER_CALL, "stop", "ms_poe", "device")
        return {name: getattr(self, name) for name in names}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:  # noqa: ANN401
        params = super()._get_ls_params(stop=stop or self.stop, **kwargs)
        return {**params, "ls_provider": "rag-app"}

    def get_token_ids(self, text: str) -> list[int]:
        """Token ids of text in a message."""
        return list(self._load(self.model).chat.content(text))

    def get_num_tokens_from_messages(
        self, messages: list[BaseMessage], tools: Sequence[Any] | None = None
    ) -> int:
        """Tokens of a conversation with its template, as they count against the model's window."""
        return len(self._load(self.model).chat.conversation(_to_messages(messages)).ids)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's signature
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop=stop, **kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's signature
    ) -> Iterator[ChatGenerationChunk]:
        """Chunks of the answer, then an empty one with its metadata.

        Raises:
            InvalidRequest: A message is not text, the prompt does not fit, or an option is unknown.
        """
        settings = self._for_call(kwargs)
        model = self._load(settings.model)
        prompt = model.chat.conversation(_to_messages(messages))
        generation = _Generation.of(model, prompt, settings)
        stops = (*prompt.stops, *(stop if stop is not None else self.stop or ()))
        with closing(model.detokenize(generation.tokens(), stops=stops)) as pieces:
            for piece in pieces:
                yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        yield ChatGenerationChunk(message=generation.last())

    def _for_call(self, options: dict[str, Any]) -> ChatRagApp:
        """This model with the options of one call."""
        options = {name: value for name, value in options.items() if name != "stream"}
        unknown = [name for name in options if name not in PER_CALL]
        if unknown:
            raise InvalidRequest(
                f"unknown option {', '.join(unknown)}; a call takes: {', '.join(PER_CALL)}, stop"
            )
        return self.model_copy(update=options)

    def _load(self, name: str) -> CausalModel:
        """The model with a name, held for the lifetime of this object."""
        if name not in self._models:
            self._models[name] = _load_shared(name, self.device, self.ms_poe)
        return self._models[name].model


@dataclass(eq=False)
class _SharedModel:
    """A model with its changes, undone when nobody uses it any more."""

    model: CausalModel
    changes: ExitStack


_shared_models: WeakValueDictionary[tuple[object, ...], _SharedModel] = WeakValueDictionary()
_loading = threading.Lock()


def _load_shared(name: str, device: str | None, ms_poe: MsPoE | str) -> _SharedModel:
    """A model with Ms-PoE applied, loaded once for all users."""
    if is_remote(name):
        raise needs_internals("This chat model", name, "langchain-openai for a server's")
    with _loading:
        shared = _shared_models.get((name, device, ms_poe))
        if shared is None:
            model, changes = CausalModel.load(name, device=device), ExitStack()
            positions = (
                choose_policy(ms_poe, model)
                if isinstance(ms_poe, str)
                else MsPoEPolicy(ms_poe, "as asked")
            )
            changes.enter_context(apply_policy(positions, model))
            shared = _shared_models[(name, device, ms_poe)] = _SharedModel(model, changes)
        return shared


@dataclass
class _Generation:
    """The generation of one answer."""

    model: CausalModel
    prompt: Rendered
    sampling: Sampling
    limit: int
    until: float
    tokens_written: int = 0
    finish: str = "stop"

    @classmethod
    def of(cls, model: CausalModel, prompt: Rendered, settings: ChatRagApp) -> _Generation:
        """An answer to a prompt.

        Raises:
            InvalidRequest: The prompt leaves no room in the window, or no token is asked for.
        """
        room = model.window - len(prompt.ids)
        if settings.max_tokens < 1:
            raise InvalidRequest(f"max_tokens is {settings.max_tokens}; it must be at least 1")
        if room < 1:
            raise InvalidRequest(
                f"a conversation of {len(prompt.ids)} tokens does not fit {model.name} "
                f"({model.window} tokens); drop its first messages"
            )
        return cls(
            model,
            prompt,
            Sampling(settings.temperature, settings.top_p, settings.seed),
            min(settings.max_tokens, room),
            time.monotonic() + (settings.timeout or float("inf")),
        )

    def tokens(self) -> Generator[int]:
        """The tokens of the answer."""
        tokens = self.model.tokens(self.prompt.ids, sampling=self.sampling, limit=self.limit)
        with closing(tokens):
            for token in tokens:
                self.tokens_written += 1
                yield token
                if time.monotonic() > self.until:
                    self.finish = "timeout"
                    return
        if self.tokens_written == self.limit:
            self.finish = "length"

    def last(self) -> AIMessageChunk:
        """The last chunk of a stream, with token counts and the finish reason."""
        read = len(self.prompt.ids)
        return AIMessageChunk(
            content="",
            usage_metadata={
                "input_tokens": read,
                "output_tokens": self.tokens_written,
                "total_tokens": read + self.tokens_written,
            },
            response_metadata={"model_name": self.model.name, "finish_reason": self.finish},
            chunk_position="last",
        )


def _to_messages(messages: Sequence[BaseMessage]) -> list[ChatMessage]:
    """LangChain's messages as the model's; other types, and what is no text, are refused."""
    return [ChatMessage(_role(message), _text(message)) for message in messages]


def _role(message: BaseMessage) -> Role:
    role = next((role for kind, role in ROLES.items() if isinstance(message, kind)), None)
    if role is None:
        raise InvalidRequest(
            f"this model cannot read a {type(message).__name__}; use system, human and AI messages"
        )
    return role


def _text(message: BaseMessage) -> str:
    for block in message.content_blocks:
        if block["type"] != "text":
            raise InvalidRequest(
                f"this model reads text only, not {block['type']}; remove that block"
            )
    return str(message.text)
