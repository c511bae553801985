"""Decisions and actions, recognised by the phrases with which people commit themselves.

Patterns of English, made for few false finds rather than for all: a decision or promise in other
words is not found. A question, a condition, a negation or a report of what somebody hoped commits
nobody.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from generator.evidence import Sentence
from generator.overview.blocks import Block, Statement
from generator.overview.times import is_deadline, time_expression
from indexing.text.terms import content_stems

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
    | put\s+together | make\s+a\s+(?:list|copy|table|summary|draft) | collect | gather
    | check\s+(?!what|we|that|it|this|you) | verify | find\s+out | look\s+into | investigate
    | research | review | test | run\s+the | re-?run | redo | rewrite | revise | update | fix
    | finish(?!\s+up) | complete | implement | install | print | copy | publish | work\s+on
    | call\s+(?:him|her|them|back|up) | phone | ring | contact | get\s+in\s+touch
    | get\s+back\s+to(?!\s+(?:my|it|that|this|the)\b) | report\s+back | follow\s+up
    | (?:talk|speak)\s+(?:to|with) | ask\s+(?!you\b)(?:\S+\s+){0,3}(?:if|whether|for) | arrange
    | organi[sz]e | schedule | set\s+up | book | order | sign\s+up | bring | take\s+care\s+of
    | hand\s+(?:over|in|out) | provide
    )\b"""
_ADVERBS = r"""(?:\s+(?:then|also|definitely|certainly|probably|try\s+to|make\s+sure\s+to
    |go\s+and|be\s+sure\s+to))*\s+"""
_FLAGS = re.IGNORECASE | re.VERBOSE
_WILL = rf"(?:{_APOSTROPHE}ll|\s+will|\s+shall)"
_PROMISE = re.compile(
    rf"\bI(?:{_WILL}|(?:{_APOSTROPHE}m|\s+am)\s+going\s+to){_ADVERBS}{_TASKS}", _FLAGS
)
_NAME = r"[A-Z][\w.\u2019'-]+"
_NAMED = re.compile(
    rf"(?<![\w.])(?P<who>{_NAME}(?:\s{_NAME})?)(?:{_WILL}|\s+is\s+(?:going\s+)?to)"
    rf"{_ADVERBS}{_TASKS}",
    re.VERBOSE,
)
_DUE = re.compile(rf"\bI{_WILL}\s+(?!be\b|see\b|meet\b)[a-z]+", re.IGNORECASE)
_LABEL = re.compile(r"\b(?:action(?:\s+(?:item|point))?|to-?do)\s*:", _FLAGS)

_VERBS = r"(?:decided|agreed|resolved|voted)"
_GOING_TO = rf"""(?:we(?:{_APOSTROPHE}ll|\s+will|(?:{_APOSTROPHE}re|\s+are)\s+going\s+to)
    |let{_APOSTROPHE}s)"""
_OPENING = r"""(?:^|[,.;:}\u2013\u2014-]\s*|\b(?:so|and|but|well|okay|ok|now|then|yeah|yes|um|uh|erm
    |also|basically|finally|time|meeting|today|yesterday|therefore)\s+)"""
_DECISION = re.compile(
    rf"""
      {_OPENING}we(?:{_APOSTROPHE}ve|\s+have)?(?:\s+(?:all|also|just|already|now|therefore|finally))*
        \s+(?:{_VERBS}|settled|opted|chosen|chose)\s+(?:to|that|on|for|not|against|the)\b
    | \bit(?:{_APOSTROPHE}s|\s+was|\s+is|\s+has)\s+(?:been\s+)?{_VERBS}\s+(?:to|that)\b
    | \b(?:it|that)(?:{_APOSTROPHE}s|\s+is)\s+(?:{_VERBS}|settled)(?:\s+then)?\s*[:,]
    | \b(?:the|our)\s+decision\s+(?:is|was)\b
    | \b(?:board|committee|council|group|team|members|panel)\s+(?:has\s+|have\s+)?
        {_VERBS}\s+(?:to|that|on|not|against)\b
    | \bmotion\s+(?:is\s+|was\s+)?(?:carried|agreed\s+to|adopted|defeated)\b
    | \b{_GOING_TO}\s+(?:then\s+)?go\s+(?:with|for)\b
    | \bdecision\s*:""",
    _FLAGS,
)
_UNCERTAIN = re.compile(
    r"""\b(?:if|unless|whether|would|could|might|may|should|never|until|once|maybe|perhaps|suppose
    |supposed|had|because|cause|think|thought|says?|said|when|why|which|what|how
    |(?:have|has|had|did)n['\u2019]t)\b
    |\b(?:have|did|do)\s+we\b""",
    _FLAGS,
)
_ERRAND = re.compile(
    r"\b(?:lunch|break|coffee|tea|dinner|presentations?|slides?|questions?|answer)\b", re.IGNORECASE
)


def decisions(blocks: Sequence[Block]) -> list[Sentence]:
    """Sentences that say what was decided, in order."""
    return [
        each.sentence
        for each in _candidates(blocks)
        if (match := _DECISION.search(each.sentence.text))
        and _says_what(each.sentence.text, match)
        and content_stems(each.sentence.text[match.end() :])
    ]


def actions(blocks: Sequence[Block]) -> list[Commitment]:
    """Sentences by which somebody takes on something or is given it, in order."""
    names = {part for block in blocks for part in (block.speaker or "").split()}
    commitments = (_commitment(each.sentence, names) for each in _candidates(blocks))
    return [each for each in commitments if each is not None]


def _candidates(blocks: Sequence[Block]) -> list[Statement]:
    """Statements that are short enough to be quoted, and no questions."""
    return [
        each
        for block in blocks
        for each in block.statements
        if each.words <= LONGEST and not each.sentence.text.rstrip().endswith("?")
    ]


def _says_what(text: str, match: re.Match[str]) -> bool:
    """Whether a commitment is certain, about more than what happens next in the meeting."""
    return not _UNCERTAIN.search(text[: match.end()]) and not _ERRAND.search(text)


def _commitment(sentence: Sentence, names: Container[str]) -> Commitment | None:
    text = sentence.text
    for pattern in (_PROMISE, _NAMED, _LABEL, _DUE):
        match = pattern.search(text)
        if match is None or not _says_what(text, match):
            continue
        when = time_expression(text[match.start() :])
        if not when and not content_stems(text[match.end() :]):
            continue
        if pattern is _DUE and not (when and is_deadline(when)):
            continue
        if pattern is _NAMED and not names_speaker(match["who"], names):
            continue
        return Commitment(sentence, _who(pattern, match, sentence), when)
    return None


def names_speaker(name: str, names: Container[str]) -> bool:
    """Whether every word of a name is of somebody who speaks."""
    return all(part in names for part in name.split())


def _who(pattern: re.Pattern[str], match: re.Match[str], sentence: Sentence) -> str | None:
    """Who is to do it: whom the sentence names, or its speaker for "I"."""
    if pattern is _NAMED:
        return match["who"]
    return sentence.speaker if match[0].startswith("I") else None
