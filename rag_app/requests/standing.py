"""A standing question such as "Tell me when the budget comes up": what it is to be told about."""

from __future__ import annotations

import re
import shlex

from indexing.message import N_
from indexing.text.language import ENGLISH
from rag_app.requests.german import in_english
from rag_app.requests.listing import Line
from rag_app.requests.mentions import phrase_in
from rag_app.requests.target import Target, groups_of, pattern
from rag_app.requests.wording import GERMAN

_TELL = (
    r"(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:tell|let|alert|notify|warn|inform|remind) (?:me|us)(?: know)?"
    r" (?:when(?:ever)?|if|once|as soon as|each time|every time)"
)
_THEY = r"(?:somebody|someone|anybody|anyone|they|we|people|[\w.-]+)"
_SUBJECT = pattern(
    rf"{_TELL} (?P<phrase{{}}>.+?) (?:comes? up|(?:is|are|gets?) (?:mentioned|discussed|named"
    r"|raised|brought up|talked about))(?: again)?",
    rf"{_TELL} {_THEY} (?:mentions?|discuss(?:es)?|names?|raises?|brings? up|(?:talks?|speaks?)"
    r" (?:about|of)) (?P<phrase{}>.+)",
)
_END = re.compile(r"[\s,]*(?:\bplease)?[\s.!]*$", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:who|what|when|where|which|why|how|whose|wer|was|wann|wo|welche[rsnm]?|warum|wie|wem|wen"
    r"|tell|let|alert|notify|sage?n?|melden?)\b",
    re.IGNORECASE,
)


def target_of(question: str) -> Target | None:
    """A request to be told when something comes up, its subject as phrase; None for any other."""
    text = _END.sub("", " ".join(question.split()))
    for language, reading in ((ENGLISH, text), (GERMAN, in_english(text))):
        if phrase := phrase_in(groups_of(_SUBJECT, reading).get("phrase", "")):
            read_as = N_("a request to be told when “%(phrase)s” comes up", phrase=phrase)
            return Target("standing", read_as, phrase=phrase, language=language)
    return None


def subject_of(question: str) -> str:
    """The words whose mentions it asks for; "" where it is a question that is to be answered.

    A few words that do not begin as a question does are a subject themselves.
    """
    if target := target_of(question):
        return target.phrase
    text = " ".join(question.split())
    return "" if text.endswith("?") or _QUESTION.match(text) else phrase_in(text.rstrip(" .!"))


def lines(target: Target, *, stands: bool = False) -> tuple[Line, ...]:
    """What is told from now on, where that can be; else, how it can be asked for.

    It can where the question `stands`: each new place is told there.
    """
    message = (
        "Each new place where “{phrase}” comes up is told here from now on, once."
        if stands
        else "One answer tells nothing later. Ask the same in a conversation on the page (rag-app "
        "serve), or begin rag-app watch FOLDER --tell {shell}, or corpus.standing({python}) "
        "in Python: each new place is told once."
    )
    phrase = target.phrase
    told = target.wording.say(
        message, phrase=phrase, shell=shlex.quote(phrase), python=repr(phrase)
    )
    return (Line(told),)
