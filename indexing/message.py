"""What a program says to people: a template with its arguments, read as its English text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

Notify = Callable[[str], None]
"""Called with one line of text, about anything that takes long."""


class Message(str):
    """A finished English text that knows what it is made of, so that it can be said in German.

    `str` of it, or of an error that holds it, is the message itself, not a copy without its parts.

    Attributes:
        template: The English text with `%(name)s` for each argument: its msgid in the catalogues.
        arguments: What is filled in, by name; messages among them are translated, too.
    """

    __slots__ = ("arguments", "template")
    template: str
    arguments: Mapping[str, str]

    def __new__(cls, template: str, /, **arguments: object) -> Self:
        """A message; a template without arguments stands for itself."""
        filled = {name: str(value) for name, value in arguments.items()}
        message = super().__new__(cls, template % filled if filled else template)
        message.template, message.arguments = template, filled
        return message

    def __str__(self) -> str:
        return self

    def without(self, text: str) -> Self:
        """The message, that text left out of all that is filled in."""
        left = {
            name: one.without(text) if isinstance(one, Message) else one.replace(text, "")
            for name, one in self.arguments.items()
        }
        return type(self)(self.template, **left)

    def __getnewargs_ex__(self) -> tuple[tuple[str], Mapping[str, str]]:
        return (self.template,), self.arguments


N_ = Message
"""As gettext calls what is translated where it is shown, and not where it is written."""


def joined(parts: Iterable[str], by: str = "; ") -> Message:
    """Several texts in one, those that are empty left out; each is translated by itself."""
    numbered = {str(at): part for at, part in enumerate(filter(None, parts))}
    return Message(by.join(f"%({at})s" for at in numbered), **numbered)


def stored(text: str) -> Any:  # noqa: ANN401 - JSON
    """A text as JSON, which `restored` reads: a message as a list, another as itself."""
    if not isinstance(text, Message):
        return text
    return [text.template, {name: stored(value) for name, value in text.arguments.items()}]


def restored(values: Any) -> str:  # noqa: ANN401 - JSON
    """What `stored` gave.

    Raises:
        ValueError: It is something else. No more is filled in than is there.
    """
    if isinstance(values, str):
        return values
    try:
        template, arguments = values
        filled = {str(name): restored(value) for name, value in arguments.items()}
        places = template.replace("%%", "")
        once = all(f"%({name})s" in places for name in filled) and places.count("%") == len(filled)
        if filled and not once:
            raise ValueError(f"no template of {', '.join(filled)}: {template}")
        return Message(template, **filled)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"no message: {error}") from error
