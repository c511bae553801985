"""Prompts for a server's model, whose tokenizer is not known here.

Tokens are estimated, and whatever is spelled like a control token is broken up, as a server may
read it as one.
"""

from __future__ import annotations

import re

from generator.prompt.chat_template import Chat, Frame

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
