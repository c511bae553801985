"""Questions that a document might answer, made from its own sentences by templates.

Each knows the sentence it comes from: it is kept only if an answer quotes that one (`suggestions`).
They are in the document's language, where its folder has templates (`questions.py`). What any
document can be asked, such as a summary, comes last, in English where there are no templates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from generator.evidence import Sentence
from generator.overview.blocks import blocks
from generator.overview.overview import Overview
from indexing.documents import Document
from indexing.text.language import language_of
from rag_app.chat.language.catalogue import ENGLISH, LANGUAGES
from rag_app.chat.welcome.templates import Template, Templates

LONGEST = 90  # characters of a question
FOLDER = "rag_app.chat.language"  # of the languages
MOST = 12  # of a document
SHORTEST = 4  # words

TEMPLATES: dict[str, Templates] = {
    code: import_module(f"{FOLDER}.{code}.questions").TEMPLATES
    for code in LANGUAGES
    if find_spec(f"{FOLDER}.{code}.questions")
}
"""By the language of a document."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question, and the span that it was made from."""

    question: str  # what is asked
    start: int  # first character of a sentence, or of a part about one thing
    end: int  # one past its last
    general: bool = False  # whether it asks for what is said of a thing, and not for one fact
    request: bool = False  # whether it is a request that the document as a whole answers


def candidates(document: Document, about: Overview) -> list[Candidate]:
    """Questions of a document, the most telling first."""
    templates = TEMPLATES.get(language_of(document.text))
    requests = list(_requests(document, about, templates or TEMPLATES[ENGLISH]))
    if templates is None:
        return requests
    ranked = sorted(_from_sentences(document, about, templates), key=lambda pair: pair[0])
    by_question: dict[str, Candidate] = {}
    for candidate in (*(one for _, one in ranked), *_from_topics(document, about, templates)):
        by_question.setdefault(candidate.question, candidate)
    return [*list(by_question.values())[:MOST], *requests]


def _requests(document: Document, about: Overview, templates: Templates) -> Iterator[Candidate]:
    """What a document of its kind can always be asked."""
    for wanted, request in (
        (about.decisions, templates.decided),
        (about.speakers, templates.spoke),
        (True, templates.summary),
    ):
        question = request.format(title=document.title)
        if wanted and len(question) <= LONGEST:
            yield Candidate(question, 0, len(document.text), request=True)


def _from_sentences(
    document: Document, about: Overview, templates: Templates
) -> Iterator[tuple[int, Candidate]]:
    """Candidates, each with its rank: the first of every template before the second of one."""
    promises = {each.quote.start for each in about.actions}
    given: Counter[int] = Counter()
    for block in blocks(document):
        for sentence in (each.sentence for each in block.statements):
            promised = templates.promises if sentence.start in promises else ()
            for number, template in enumerate(promised + templates.facts):
                if question := _question(sentence, template, templates.leans):
                    given[number] += 1
                    rank = given[number] * 100 + number
                    yield rank, Candidate(question, sentence.start, sentence.end)
                    break


def _question(sentence: Sentence, template: Template, leans: re.Pattern[str]) -> str:
    """The question of a sentence; "" if it is none that stands by itself."""
    pattern, ask = template
    match = pattern.search(" ".join(sentence.text.split()))
    question = ask(match) if match else ""
    bare = question.removesuffix(" do you have?")
    is_whole = len(question.split()) >= SHORTEST and len(question) <= LONGEST
    is_cut = bare.endswith((" and?", " und?"))
    return question if is_whole and not is_cut and not leans.search(bare) else ""


def _from_topics(document: Document, about: Overview, templates: Templates) -> Iterator[Candidate]:
    """A question on each topic, where sentences give too few: on a thing that is named in it."""
    for topic in about.topics:
        text = document.text[topic.start : topic.end]
        for word in topic.keywords:
            if question := templates.about(word, text, bool(about.speakers)):
                yield Candidate(question, topic.start, topic.end, general=True)
                break
