"""Templates of questions in one language: sentence patterns and their questions."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

Ask = Callable[[re.Match[str]], str]
Template = tuple[re.Pattern[str], Ask]


@dataclass(frozen=True, slots=True)
class Templates:
    """The templates of a language.

    Attributes:
        facts: Of any sentence.
        promises: Of what somebody is to do, for the sentences in which an overview finds that.
        leans: Words in a question that cannot be understood without what was said before it.
        about: A question on a word of a part of a document: the word, the text of the part, and
            whether people speak there; "" for none.
        decided: What was decided in a document, with its title in braces.
        spoke: Who spoke there.
        summary: What it is about.
    """

    facts: tuple[Template, ...]
    promises: tuple[Template, ...]
    leans: re.Pattern[str]
    about: Callable[[str, str, bool], str]
    decided: str
    spoke: str
    summary: str


def lower(text: str) -> str:
    """A phrase as it stands within a sentence."""
    return text[:1].lower() + text[1:]
