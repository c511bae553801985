"""When what a question asks for held: now, at first, in a month, or all along.

Words of English and German.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from generator.extractive.question.two_questions import asks_twice
from indexing.text.days.stated_date import MONTH, MONTH_NUMBERS

_ONCE = re.compile(
    r"\b(?:originally|(?:at|the|was) first|first (?:\w+ed|meant|said|set)|initial(?:ly)?"
    r"|previous(?:ly)?|earlier|earliest|former(?:ly)?|used to|old|before|back then|until now"
    r"|no longer|at the (?:kick-?off|beginning|start|time|outset)|to (?:begin|start) with"
    r"|ursprünglich\w*|zuerst|zunächst|anfangs|früher\w*|vorher|bisher\w*|damals|ehemalig\w*)\b",
    re.IGNORECASE,
)
_COURSE = re.compile(
    r"\b(?:how|in what way)\b.* (?:(?:chang|mov|evolv)e[ds]?|develop(?:s|ed)?|var(?:y|ie[ds])"
    r"|(?:shift|alter|progress)ed|(?:go|goes|went|gone) up and down)\b"
    r"|\bwhat (?:changes|changed)\b|\bwhich changes\b|\bhistory of\b"
    r"|\bover (?:time|the (?:weeks|months|meetings))\b"
    r"|\bwie\b.*\b(?:ver|ge)ändert\b|\bwie\b.*\bentwickelt\b|\bim lauf der zeit\b",
    re.IGNORECASE,
)
_IN_THE_END = re.compile(
    r"\b(?:now|today|currently|in the end|eventually|finally|really|actually|this time|second time"
    r"|jetzt|heute|inzwischen|mittlerweile|am ende|letztlich|schlie(?:ß|ss)lich|tatsächlich"
    r"|wirklich)\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    rf"\b(?:in|as of|back in|at the end of|by|im|ende|anfang) (?P<month>{MONTH})\b"
    r"(?:,? (?P<year>\d{4}))?",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\b(?:was|were|had been|as of|war|waren|galt|galten|hatte)\b|^\W*who \w+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Moment:
    """When something held.

    Attributes:
        kind: "now" for the latest word, "once" for an earlier one, "then" for that of a month,
            "course" for all of them, or for the first and the last.
        month: In ISO 8601; "" where none is named.
        words: The month as the question has it.
    """

    kind: Literal["now", "once", "then", "course"]
    month: str = ""
    words: str = ""


def asked_moment(question: str, days: Collection[str]) -> Moment:
    """When what a question asks for held.

    A month is that of the documents where these are of it or of later ones: what was so in it, as
    far as was known ("What was the budget in October?"), not what happened in it.
    """
    if _COURSE.search(question) or _asks_for_both(question):
        return Moment("course")
    if (named := _THEN.search(question)) and _STATE.search(question):
        number, dated = MONTH_NUMBERS[named["month"].lower()], sorted(filter(None, days))
        years = {named["year"]} if named["year"] else {day[:4] for day in dated}
        months = [f"{year}-{number:02d}" for year in years]
        known = [one for one in months if dated and dated[0][:7] <= one < dated[-1][:7]]
        if known:
            return Moment("then", max(known), named["month"])
    return Moment("once" if _ONCE.search(question) else "now")


def _asks_for_both(question: str) -> bool:
    """Whether two things are asked for: what was so once, and what came of it."""
    once = _ONCE.search(question) or _THEN.search(question)
    return bool(once and _IN_THE_END.search(question)) and asks_twice(question)


_DATE_OF = re.compile(
    r"^\W*what(?: is|'s| was) the (?:(?:final|latest|current|new) )?(?P<what>[\w-]+) date"
    r"(?P<of> (?:of|for) .+?)?\s*\?*\s*$",
    re.IGNORECASE,
)


def question_to_read(question: str, days: Collection[str]) -> str:
    """A question in the words that a reader finds the answer to.

    It finds "The launch is on Monday." for "When is the launch?", and for its date does not; nor
    does it know that the minutes of October tell what the budget was in October.

    Args:
        question: As asked.
        days: Of the documents, as of `asked_moment`.
    """
    if found := _DATE_OF.match(question):
        return f"When is the {found['what']}{found['of'] or ''}?"
    if asked_moment(question, days).kind == "then":
        return re.sub(rf"\s*{_THEN.pattern}", "", question, count=1, flags=re.IGNORECASE)
    return question
