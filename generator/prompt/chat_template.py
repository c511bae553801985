"""A tokenizer's chat template, with untrusted text kept apart from its control tokens.

A document may contain "<|im_end|>" or whatever ends a message for a model. Rendering it into the
template and tokenizing the result would let the document end the message and speak for the user.
So the template is rendered around placeholders, its own parts are tokenized with control tokens,
and everything else is tokenized as plain characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, Literal

from indexing.errors import InvalidRequest

Role = Literal["system", "user", "assistant"]

_SYSTEM, _USER = "Placeholder0System", "Placeholder0User"
_ANSWER, _NEXT = "Placeholder0Answer", "Placeholder0Next"
_WRAPPED = re.compile(r"[<\[{].+[>\]}]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the user's message."""

    head: tuple[int, ...]  # token ids before it, the system message included
    tail: tuple[int, ...]  # token ids after it, up to where the answer begins
    stops: tuple[str, ...] = ()  # texts that end an answer, for models without a token that does

    def __len__(self) -> int:
        return len(self.head) + len(self.tail)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """What somebody said in a conversation with a model."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """A conversation as a model reads it, up to where its answer begins."""

    ids: tuple[int, ...]
    stops: tuple[str, ...] = ()  # texts that end an answer, for models without a token that does


class Chat:
    """The messages of one tokenizer, as token ids.

    Attributes:
        is_elsewhere: Whether the tokenizer is not here, so that a server renders the messages.
    """

    is_elsewhere = False

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - transformers has no common type
        self.tokenizer = tokenizer

    def content(self, text: str) -> tuple[int, ...]:
        """Token ids of text from outside, none of which is a control token.

        Each control token's spelling is cut after its first character, and the pieces are
        tokenized apart: no piece holds one, whatever the tokenizer makes of special tokens.
        """
        text = text.encode("utf-8", "replace").decode()  # lone surrogates cannot be tokenized
        cuts = [match.start() + 1 for match in self._controls.finditer(text)] if text else []
        bounds = [0, *cuts, len(text)]
        pieces = [text[a:b] for a, b in pairwise(bounds) if a < b]
        return tuple(
            token
            for piece in pieces
            for token in self.tokenizer(
                piece, add_special_tokens=False, split_special_tokens=True, verbose=False
            )["input_ids"]
            if token not in self._control_ids
        )

    def frame(self, system: str) -> Frame:
        """The template around one message of the user, after one of the system.

        Templates that know no system message get it at the start of the user's.
        """
        if not getattr(self.tokenizer, "chat_template", None):
            return self._plain(system)
        rendered = self._rendered(with_system=True)
        if rendered is not None and _SYSTEM in rendered and _USER in rendered:
            before, _, rest = rendered.partition(_SYSTEM)
            between, _, after = rest.partition(_USER)
            head = (*self._control(before), *self.content(system), *self._control(between))
            return Frame(head, self._control(after))
        rendered = self._rendered(with_system=False)
        if rendered is None or _USER not in rendered:
            return self._plain(system)
        before, _, after = rendered.partition(_USER)
        return Frame((*self._control(before), *self.content(system + "\n\n")), self._control(after))

    def between(self) -> tuple[int, ...] | None:
        """Token ids between an answer and the user's next message; None where no template says."""
        if not getattr(self.tokenizer, "chat_template", None):
            return None
        turns = [("user", _USER), ("assistant", _ANSWER), ("user", _NEXT)]
        rendered = self._render([{"role": role, "content": text} for role, text in turns])
        if rendered is None or rendered.count(_ANSWER) != 1 or rendered.count(_NEXT) != 1:
            return None
        between = rendered.partition(_ANSWER)[2].partition(_NEXT)[0]
        return self._control(between) or None

    def _plain(self, system: str) -> Frame:
        """For models that were never taught to chat: a text that an answer continues."""
        first = self.tokenizer.bos_token_id
        head = (() if first is None else (first,)) + self.content(system + "\n\n")
        return Frame(head, self.content("\nAnswer:"), stops=("\n\n", "\nQuestion:"))

    def conversation(self, messages: Sequence[ChatMessage]) -> Rendered:
        """The template around several messages. Neighbours of one role are joined.

        Templates that know no system message get it at the start of the first user's.

        Raises:
            InvalidRequest: Nothing is said, or the template does not take the roles in this order.
        """
        joined = _joined(messages)
        if not joined:
            raise InvalidRequest("the conversation is empty; say something")
        if not getattr(self.tokenizer, "chat_template", None):
            return self._plain_conversation(joined)
        for some in (joined, _system_in_user(joined)):
            ids = self._filled(some)
            if ids is not None:
                return Rendered(ids)
        order = ", ".join(message.role for message in joined)
        raise InvalidRequest(
            f"the model's chat template takes no conversation of {order}; begin with what a user "
            "says, after one system message at most, and take turns"
        )

    def _filled(self, messages: Sequence[ChatMessage]) -> tuple[int, ...] | None:
        """Token ids of the rendered messages; None where the template leaves one out."""
        marks = [f"Placeholder{number}Text" for number in range(len(messages))]
        rest = self._render(
            [{"role": m.role, "content": mark} for m, mark in zip(messages, marks, strict=True)]
        )
        ids: list[int] = []
        for message, mark in zip(messages, marks, strict=True):
            before, marker, rest = (rest or "").partition(mark)
            if not marker:
                return None
            ids += [*self._control(before), *self.content(message.text)]
        return (*ids, *self._control(rest or ""))

    def _plain_conversation(self, messages: Sequence[ChatMessage]) -> Rendered:
        """For models that were never taught to chat: questions and answers, to be continued."""
        spelled = {"system": "{}\n\n", "user": "Question: {}\n", "assistant": "Answer: {}\n"}
        first = self.tokenizer.bos_token_id
        ids = [] if first is None else [first]
        for message in messages:
            ids += self.content(spelled[message.role].format(message.text))
        return Rendered((*ids, *self.content("Answer:")), stops=("\n\n", "\nQuestion:"))

    def _rendered(self, *, with_system: bool) -> str | None:
        messages = [{"role": "user", "content": _USER}]
        if with_system:
            messages.insert(0, {"role": "system", "content": _SYSTEM})
        return self._render(messages)

    def _render(self, messages: list[dict[str, str]]) -> str | None:
        from jinja2 import TemplateError

        try:
            return str(
                self.tokenizer.apply_chat_template(
                    messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
                )
            )
        except (TemplateError, ValueError, TypeError):
            return None

    def _control(self, text: str) -> tuple[int, ...]:
        return tuple(self.tokenizer(text, add_special_tokens=False)["input_ids"]) if text else ()

    @cached_property
    def _control_ids(self) -> frozenset[int]:
        """Ids of special tokens, and of added ones that are written in brackets."""
        added = self.tokenizer.added_tokens_decoder.items()
        wrapped = {i for i, token in added if token.special or _WRAPPED.fullmatch(token.content)}
        return frozenset(wrapped | set(self.tokenizer.all_special_ids))

    @cached_property
    def _controls(self) -> re.Pattern[str]:
        """Finds where a control token's spelling starts, overlapping ones included."""
        spelled = {str(self.tokenizer.convert_ids_to_tokens(i)) for i in self._control_ids}
        spelled |= {token.strip() for token in spelled}
        choice = "|".join(re.escape(token) for token in sorted(spelled) if len(token) > 1)
        return re.compile(f"(?={choice})" if choice else r"(?!)")


def _joined(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Messages with those of one role that follow each other as one."""
    return [
        ChatMessage(role, "\n\n".join(message.text for message in some))
        for role, some in groupby(messages, key=lambda message: message.role)
    ]


def _system_in_user(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The same with a first system message at the start of the user's that follows it."""
    if [message.role for message in messages[:2]] != ["system", "user"]:
        return list(messages)
    return [ChatMessage("user", f"{messages[0].text}\n\n{messages[1].text}"), *messages[2:]]


_CONTROL = re.compile(
    r"<(?=[|/\uff5c]?[\w|\uff5c:.\u2581-]{1,40}>)|<(?=[|\uff5c<])|\[(?=/?[A-Z_]{2,20}\])"
)
_PIECE = re.compile(r"\w{1,5}|[^\w\s]")


class ServerChat(Chat):
    """For prompts whose tokenizer is elsewhere: about as many tokens as most would make."""

    is_elsewhere = True

    def __init__(self) -> None:
        super().__init__(tokenizer=None)

    def content(self, text: str) -> tuple[int, ...]:
        """Zeros, one for each token that the text may take: rather too many than too few."""
        return (0,) * len(_PIECE.findall(text))

    def frame(self, system: str) -> Frame:
        """About what a template puts around one message."""
        return Frame((*self.content(system), *(0,) * 8), (0,) * 8)


def break_control_tokens(text: str) -> str:
    """The text with a space in whatever is spelled like a control token, "< |im_end|>"."""
    return _CONTROL.sub(lambda match: match.group() + " ", text)
