"""Tokens in, whole characters out: what can be shown while an answer is being written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

_HALF = "\ufffd"


class TextStream:
    """Turns a growing sequence of tokens into pieces of text that never change again.

    A character of several tokens is held back until it is whole. So is the beginning of a stop
    text, until it is clear whether it becomes one; a stop text itself is never shown. The pieces
    joined are the decoded tokens, cut at the first stop text. To decode is to leave special tokens
    out, and to tidy up nothing.
    """

    def __init__(
        self, decode: Callable[[Sequence[int]], str], *, stops: Sequence[str] = ()
    ) -> None:
        self._decode = decode
        self._stops = tuple(stops)
        self._tokens: list[int] = []
        self._context = 0  # tokens before this one no longer influence how later ones decode
        self._read = 0  # tokens before this one are decoded
        self._pending = ""
        self.stopped = False

    def push(self, token: int) -> str:
        """The text that one more token makes certain; often "", sometimes several words."""
        self._tokens.append(token)
        before = self._decode(self._tokens[self._context : self._read])
        text = self._decode(self._tokens[self._context :])
        if len(text) <= len(before) or text.endswith(_HALF):
            return ""
        self._context, self._read = self._read, len(self._tokens)
        return self._release(text[len(before) :])

    def finish(self) -> str:
        """What was held back, without a last half character."""
        before = self._decode(self._tokens[self._context : self._read])
        rest = self._decode(self._tokens[self._context :])[len(before) :].rstrip(_HALF)
        text = self._release(rest) + self._pending
        self._pending = ""
        return text

    def _release(self, text: str) -> str:
        if self.stopped:
            return ""
        text = self._pending + text
        ends = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if ends:
            self.stopped, self._pending = True, ""
            return text[: min(ends)]
        keep = max((_beginning(text, stop) for stop in self._stops), default=0)
        self._pending = text[len(text) - keep :]
        return text[: len(text) - keep]


def _beginning(text: str, stop: str) -> int:
    """How many last characters of `text` are first characters of `stop`."""
    return next((n for n in range(len(stop) - 1, 0, -1) if text.endswith(stop[:n])), 0)
