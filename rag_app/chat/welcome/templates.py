"""Templates of questions in one language: sentence patterns and their questions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Ask = Callable[[re.Match[str]], str]
Template = tuple[re.Pattern[str], Ask]
_BEGINNINGS = ("thing", "who", "many")  # groups that may begin a sentence, and no question


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a language."""

    facts: tuple[Template, ...]  # of any sentence
    # of what somebody is to do, for the sentences in which an overview finds that
    promises: tuple[Template, ...]
    # words in a question that cannot be understood without what was said before it
    leans: re.Pattern[str]
    # a question on a word of a part of a document: the word, the text of the part, and whether
    # people speak there; "" for none
    about: Callable[[str, str, bool], str]
    decided: str  # what was decided in a document, with its title in braces
    spoke: str  # who spoke there
    summary: str  # what it is about


def lower(text: str) -> str:
    """A phrase as it stands within a sentence."""
    return text[:1].lower() + text[1:]


def asking(question: str, pattern: str) -> Template:
    """A template whose question has the groups of its pattern in braces."""

    def ask(match: re.Match[str]) -> str:
        groups = {name: text or "" for name, text in match.groupdict().items()}
        return question.format(
            **{name: lower(text) if name in _BEGINNINGS else text for name, text in groups.items()}
        )

    return re.compile(pattern), ask
