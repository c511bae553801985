"""What a request asks for, as recognised from its words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from generator.answer import Kind
from generator.register.entry import State
from indexing.filter import Filter
from indexing.text.language import ENGLISH
from rag_app.requests.naming.catalogue import Catalogue
from rag_app.requests.wording import WORDINGS, Wording


@dataclass(frozen=True, slots=True)
class Words:
    """A question on one line, as patterns read it: without politeness and its last mark."""

    text: str
    where: Filter
    catalogue: Catalogue

    def resolve(self, name: str) -> tuple[str, ...]:
        """The documents that a phrase of it stands for."""
        return self.catalogue.resolve(name, self.scope)

    @property
    def scope(self) -> tuple[str, ...]:
        """Ids of the documents that the question is limited to; none for all."""
        where = self.where
        limited = where.documents or where.path or where.is_of_occasions
        return self.catalogue.admitted(where) if limited else ()


@dataclass(frozen=True, slots=True)
class Target:
    """What a request asks for."""

    kind: Kind  # what it is
    read_as: str  # the same in plain words
    documents: tuple[str, ...] = ()  # the documents it is about; none for all
    spoken: bool = False  # whether it is about transcripts only
    phrase: str = ""  # the words whose mentions it asks for
    literal: bool = True  # whether it asks for these very words, so that "nowhere" is an answer too
    language: str = ENGLISH  # in which language it asks, a key of `WORDINGS`
    person: str = ""  # whose actions it asks for; "" for everybody's
    states: tuple[State, ...] = ()  # what became of what it asks for; none for whatever did
    phrases: tuple[str, ...] = ()  # the same in all spellings; none for itself

    @property
    def wording(self) -> Wording:
        """How its answer is worded."""
        return WORDINGS[self.language]


def pattern(*forms: str) -> re.Pattern[str]:
    """One pattern of several forms, for `groups_of`.

    A blank stands for any white space, and "{}" in the name of a group for the number of its form,
    as a pattern may have a name once only.
    """
    numbered = (form.replace("{}", str(at)) for at, form in enumerate(forms))
    return re.compile("|".join(form.replace(" ", r"\s+") for form in numbered), re.IGNORECASE)


def groups_of(expression: re.Pattern[str], text: str) -> dict[str, str]:
    """The groups of the form that is the whole text, by name without number; "" is the text."""
    match = expression.fullmatch(text)
    if match is None:
        return {}
    groups = {name.rstrip("0123456789"): each for name, each in match.groupdict().items() if each}
    return {"": text, **groups}
