"""The interface of the language models in this process: token ids in, text out."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from generator.lm.sampling import Sampling
from generator.prompt.chat_template import Chat
from generator.prompt.follow_up import ConversationCache
from indexing.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class Writing:
    """A text in the making."""

    pieces: Generator[str]  # what is written, never taken back; closing it ends the work
    ids: Callable[[], tuple[int, ...]]  # the token ids of what was written so far


class LanguageModel(ABC):
    """A model that reads and writes here."""

    name: str  # the name it was asked for by
    revision: str  # what pins its files
    chat: Chat  # its template and tokenizer
    window: int  # most tokens of prompt and text together
    conversations: ConversationCache  # what it was shown in conversations

    def count(self, text: str) -> int:
        """How many tokens a text takes in a prompt."""
        return len(self.chat.content(text))

    @abstractmethod
    def write(
        self,
        prompt: Sequence[int],
        *,
        max_new_tokens: int,
        sampling: Sampling | None = None,
        stop: threading.Event | None = None,
        stops: Sequence[str] = (),
    ) -> Writing:
        """Begin to write what follows token ids; closing the pieces, or `stop`, ends it.

        Texts in `stops` end it, too, and are not part of it. By default tokens are the likeliest.

        Raises:
            InvalidRequest: The prompt leaves no room in the window.
        """

    def stream(
        self,
        prompt: Sequence[int],
        *,
        max_new_tokens: int,
        sampling: Sampling | None = None,
        stop: threading.Event | None = None,
        stops: Sequence[str] = (),
    ) -> Generator[str]:
        """The pieces of `write`."""
        writing = self.write(
            prompt, max_new_tokens=max_new_tokens, sampling=sampling, stop=stop, stops=stops
        )
        yield from writing.pieces


def room_after(prompt: Sequence[int], model: LanguageModel) -> int:
    """The tokens that may follow a prompt.

    Raises:
        InvalidRequest: There are none.
    """
    room = model.window - len(prompt)
    if room < 1 or not prompt:
        raise InvalidRequest(
            f"a prompt of {len(prompt)} tokens does not fit {model.name} ({model.window} tokens)"
        )
    return room


def needs_internals(what: str, name: str, instead: str) -> InvalidRequest:
    """The error for what cannot be done through a server, and what to use in its place."""
    return InvalidRequest(
        f"{what} needs the inside of a model, and {name} is behind a server, which gives text "
        f"only; use {instead}, or a model on this machine"
    )
