"""A standing question such as "Tell me when the budget comes up": what it is to be told about."""

from __future__ import annotations

import re

from rag_app.requests.mentions import phrase_in
from rag_app.requests.target import groups_of, pattern

_TELL = (
    r"(?:please )?(?:tell|let|alert|notify|warn|inform|remind) (?:me|us)(?: know)?"
    r" (?:when(?:ever)?|if|once|as soon as|each time|every time)"
)
_THEY = r"(?:somebody|someone|anybody|anyone|they|we|people|[\w.-]+)"
_SAG = (
    r"(?:sage?|sagen sie|melde?|melden sie)(?: es)? (?:mir|uns)(?: bitte)?,?"
    r" (?:wenn|sobald|falls|jedes mal,? wenn)"
)
_SUBJECT = pattern(
    rf"{_TELL} (?P<phrase{{}}>.+?) (?:comes? up|(?:is|are|gets?) (?:mentioned|discussed|named"
    r"|raised|brought up|talked about))(?: again)?",
    rf"{_TELL} {_THEY} (?:mentions?|discuss(?:es)?|names?|raises?|brings? up|(?:talks?|speaks?)"
    r" (?:about|of)) (?P<phrase{}>.+)",
    rf"{_SAG} (?:(?:der|die|das|den|dem) )?(?P<phrase{{}}>.+?) (?:zur sprache kommt|aufkommt"
    r"|(?:erwähnt|genannt|besprochen|angesprochen) (?:wird|werden))",
)
_QUESTION = re.compile(
    r"(?:who|what|when|where|which|why|how|whose|wer|was|wann|wo|welche[rsnm]?|warum|wie|wem|wen"
    r"|tell|let|alert|notify|sage?n?|melden?)\b",
    re.IGNORECASE,
)


def subject_of(question: str) -> str:
    """The words whose mentions it asks for; "" where it is a question that is to be answered.

    A few words that do not begin as a question does are a subject themselves.
    """
    text = " ".join(question.split())
    if groups := groups_of(_SUBJECT, text.rstrip(" .!")):
        return phrase_in(groups["phrase"])
    return "" if text.endswith("?") or _QUESTION.match(text) else phrase_in(text.rstrip(" .!"))
