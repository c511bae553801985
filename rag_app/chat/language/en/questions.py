"""Templates of English questions: from a statement to the question that it answers."""

from __future__ import annotations

import re

from indexing.text.english import SCALES, TENS, UNITS
from rag_app.chat.welcome.templates import Templates, asking, lower

_NUMBER = rf"(?:\d[\d,.]*|{'|'.join((*UNITS, *TENS))})(?:[- ](?:{'|'.join((*UNITS, *SCALES))}))*"
_THING = r"(?P<thing>(?:[Tt]he|[Aa]n?|[Ee]ach|[Ee]very) [\w' -]{3,45}?)"
_TIME = r"(?:second|minute|hour|day|week|month|year)s?\b"
_DATE = (
    r"(?:\d|the [a-z-]+ of |(?:early |late |the )?(?:spring|summer|autumn|winter)\b"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|(?:Jan|Febr)uary\b|March\b|April\b|May\b|June\b|July\b|August\b"
    r"|(?:Septem|Octo|Novem|Decem)ber\b)"
)
_ROLE = (
    r"(?:chair(?:man|woman|person)?|secretary|treasurer|manager|director|officer|head|leader"
    r"|coordinator|curator|registrar|nurse|engineer|architect|foreman|representative|contact)"
)
_LEANS = re.compile(
    r"\b(?:it|its|he|she|him|her|his|hers|they|them|their|we|us|our|you|your|my|mine|me|i|this|that"
    r"|these|those|there|here|then|so|such|one|ones|same|other|another|something|today|tomorrow)\b",
    re.I,
)


def _passive(match: re.Match[str]) -> str:
    thing, verb = lower(match["thing"]), match["verb"]
    if match["who"]:
        return f"Who {verb} {thing}?"
    return f"When {match['be']} {thing} {verb}?"


_FACTS = (
    (
        re.compile(
            rf"^{_THING} (?P<be>was|were) (?P<verb>founded|built|opened|launched|edited|written"
            r"|designed|introduced|closed|adopted|approved|started|published|signed) "
            rf"(?:(?P<who>by) (?:[A-Z]|an? |the )|(?:in|on) {_DATE})"
        ),
        _passive,
    ),
    asking("How many {many} did {thing} have?", rf"^{_THING} had {_NUMBER} (?P<many>[a-z]+s)\b"),
    asking(
        "How many {many} do {who} have?",
        rf"^(?P<who>You|Employees|Members) (?:have|get) {_NUMBER}"
        r" (?P<many>(?:[a-z]+ )?[a-z]+s(?: of [a-z]+(?: leave| time)?)?)\b",
    ),
    asking(
        "How many {many} {be} {verb}{where}?",
        rf"^(?P<many>[A-Z][a-z]+) (?P<be>was|were) (?P<verb>[a-z]+(?:ed|en|und|ght))"
        rf"(?P<where> (?:on|at|in) [a-z ]{{3,20}}?)?(?: at [a-z]+ [a-z]+)?, {_NUMBER} in all",
    ),
    asking(
        "How much does {thing} cost?",
        rf"^{_THING} (?:costs?|would cost) (?:about |around )?(?:[£$€]|{_NUMBER} )",
    ),
    asking(
        "How long does {thing} {verb}?",
        rf"^{_THING} (?P<verb>last|take)s (?:about |at most )?(?:an?|{_NUMBER}) {_TIME}",
    ),
    asking(
        "When does {thing} {verb}?",
        rf"^{_THING} (?P<verb>start|begin|open|end|close)s (?:again )?(?:on |in |at |from )?"
        rf"(?:the )?{_DATE}",
    ),
    asking(
        "When is {thing}?",
        rf"^{_THING} (?:is|was|has been) (?:moved|postponed|brought forward|put back|fixed)"
        rf" (?:from [\w ]{{3,30}} )?(?:to|for|until|till) {_DATE}",
    ),
    asking(
        "Who is the {role}?",
        r"\b[A-Z][\w'-]+ [A-Z][\w'-]+ (?:is|becomes|will be|stays) (?:our |the )"
        rf"(?P<role>(?:[a-z]+ ){{0,3}}{_ROLE})\b",
    ),
    asking('What does "{term}" mean?', r"[\"\u201c](?P<term>[A-Z][\w -]{2,40})[\"\u201d] means "),
    asking(
        "What was decided about the {thing}?",
        r"\bdecided[:,]? (?:that |on )?.*?\b(?:for|about|on) the "
        r"(?P<thing>[a-z-]+(?: [a-z-]+)?)[,.]",
    ),
    (
        re.compile(
            r"\bdecided[:,]? (?:that |on )?(?:the )?(?P<thing>[A-Za-z-]+(?: [a-z-]+)?) "
            r"(?:is|are|goes|stays|will|moves) "
        ),
        lambda m: f"What was decided about {_the(m['thing'])}?",
    ),
)
_PROMISES = (
    asking("Who will {what}?", r"^(?:And |So |Then |OK, )*I'll (?P<what>[a-z]+ [\w' -]{4,50})\.$"),
    asking(
        "Who will {what}?",
        r"^[A-Z][a-z]+ (?:[A-Z][a-z]+ )?will (?P<what>[a-z]+ [\w' -]{4,50})\.$",
    ),
)


def _the(thing: str) -> str:
    """A noun with its article; a name without."""
    return thing if thing[:1].isupper() else f"the {thing}"


def _about(word: str, text: str, spoken: bool) -> str:
    """What is said about a thing that is named in a text."""
    named = re.findall(rf"\bthe {re.escape(word)}\b", text)
    return f"What {'was' if spoken else 'is'} said about the {word}?" if len(named) > 2 else ""


TEMPLATES = Templates(
    _FACTS,
    _PROMISES,
    _LEANS,
    _about,
    "What was decided in {title}?",
    "Who spoke in {title}?",
    "Summarize {title}",
)
