"""Decisions and actions, by what people say when they commit themselves.

Patterns of English, made for few false finds rather than for all: a decision or promise in other
words is not found. A question, a condition, a negation or a report of what somebody hoped commits
nobody.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from generator.evidence import Sentence
from generator.overview.blocks import Block, Statement
from generator.overview.times import time_expression

LONGEST = 60  # words of a sentence that is quoted


@dataclass(frozen=True, slots=True)
class Commitment:
    """Something that somebody is to do.

    Attributes:
        sentence: What is said.
        who: Who is to do it, as far as the sentence tells: its speaker, or whom it names.
        when: The words that say when; None where there are none.
    """

    sentence: Sentence
    who: str | None
    when: str | None


_APOSTROPHE = r"['\u2019]"
_TASKS = r"""(?:
      send | e-?mail | mail | forward | circulate | distribute | post | upload | submit | deliver
    | write\s+(?:up|it|that|this|a|an|the|to) | draft | prepare | compile | summari[sz]e | document
    | put\s+together | make\s+a\s+(?:list|copy|note|table|summary|draft) | collect | gather
    | check\s+(?:with|on|whether|if|that|the) | verify | confirm | find\s+out | look\s+into
    | investigate | research | review | test | run\s+the | re-?run | redo | rewrite | revise
    | update | fix | finish | complete | implement | install | print | copy | publish | work\s+on
    | call | phone | ring | contact | get\s+in\s+touch | get\s+back\s+to | report\s+back
    | follow\s+up | talk\s+(?:to|with) | speak\s+(?:to|with) | ask | invite | remind | notify
    | inform | arrange | organi[sz]e | schedule | set\s+up | book | order | buy | register | sign
    | bring | take\s+care\s+of | hand\s+(?:over|in|out) | share | provide
    )\b"""
_ADVERBS = r"""(?:\s+(?:then|also|just|definitely|certainly|probably|try\s+to|make\s+sure\s+to
    |go\s+and|be\s+sure\s+to))*\s+"""
_FLAGS = re.IGNORECASE | re.VERBOSE
_PROMISE = re.compile(
    rf"\bI(?:{_APOSTROPHE}ll|\s+will|\s+shall|(?:{_APOSTROPHE}m|\s+am)\s+going\s+to)"
    rf"{_ADVERBS}{_TASKS}",
    _FLAGS,
)
_NAME = r"[A-Z][\w.\u2019'-]+"
_NAMED = re.compile(
    rf"(?<![\w.])(?P<who>{_NAME}(?:\s{_NAME})?)\s+(?:will|is\s+going\s+to|is\s+to)"
    rf"{_ADVERBS}{_TASKS}",
    re.VERBOSE,
)
_LABEL = re.compile(r"\b(?:action(?:\s+(?:item|point))?|to-?do)\s*:", _FLAGS)

_VERBS = r"(?:decided|agreed|resolved|voted)"
_GOING_TO = rf"""(?:we(?:{_APOSTROPHE}ll|\s+will|(?:{_APOSTROPHE}re|\s+are)\s+going\s+to)
    |let{_APOSTROPHE}s)"""
_DECISION = re.compile(
    rf"""
      \bwe(?:{_APOSTROPHE}ve|\s+have)?(?:\s+(?:all|also|just|already|now|therefore|finally))*
        \s+(?:{_VERBS}|settled|opted|chosen|chose)\s+(?:to|that|on|for|not|against|the)\b
    | \bit(?:{_APOSTROPHE}s|\s+was|\s+is|\s+has)\s+(?:been\s+)?{_VERBS}\s+(?:to|that)\b
    | \b(?:the|our)\s+decision\s+(?:is|was)\s+(?:to|that|not)\b
    | \b(?:board|committee|council|group|team|members|panel)\s+(?:has\s+|have\s+)?
        {_VERBS}\s+(?:to|that|on|not|against)\b
    | \bmotion\s+(?:is\s+|was\s+)?(?:carried|agreed\s+to|adopted|defeated)\b
    | \b{_GOING_TO}\s+(?:then\s+)?go\s+(?:with|for)\b
    | \bdecision\s*:""",
    _FLAGS,
)
_UNCERTAIN = re.compile(
    r"""\b(?:if|unless|whether|would|could|might|may|should|never|until|once|maybe|perhaps|suppose
    |supposed|had|(?:have|has|had|did)n['\u2019]t)\b""",
    _FLAGS,
)


def decisions(blocks: Sequence[Block]) -> list[Sentence]:
    """Sentences that say what was decided, in order."""
    return [
        each.sentence
        for each in _candidates(blocks)
        if (match := _DECISION.search(each.sentence.text))
        and not _UNCERTAIN.search(each.sentence.text[: match.end()])
    ]


def actions(blocks: Sequence[Block]) -> list[Commitment]:
    """Sentences by which somebody takes on something or is given it, in order."""
    matches = (_commitment(each.sentence) for each in _candidates(blocks))
    return [each for each in matches if each is not None]


def _candidates(blocks: Sequence[Block]) -> list[Statement]:
    """Statements that are short enough to be quoted, and no questions."""
    return [
        each
        for block in blocks
        for each in block.statements
        if each.words <= LONGEST and not each.sentence.text.rstrip().endswith("?")
    ]


def _commitment(sentence: Sentence) -> Commitment | None:
    text = sentence.text
    match, who = _PROMISE.search(text), sentence.speaker
    if match is None:
        match = _NAMED.search(text)
        who = match["who"] if match else None
    if match is None:
        match, who = _LABEL.search(text), None
    if match is None or _UNCERTAIN.search(text[: match.end()]):
        return None
    return Commitment(sentence, who, time_expression(text))
