"""The words by which a sentence says what became of a matter."""

from __future__ import annotations

import re

from generator.overview.commitments import CommitmentKind
from generator.register.entry import State
from indexing.text.change_words import TALK

_DROPPED = re.compile(
    r"\b(?:dropp(?:ed|ing)|drop the|scrapped|abandoned|cancelled|canceled|called off|withdrawn"
    r"|withdrew|g(?:iven|ave) up|no longer (?:needed|necessary|required|planned)|off the table"
    r"|shelved"
    r"|(?:is|are|was|were) not (?:going (?:to happen|ahead)|needed)|won't happen"
    r"|entfällt|entfallen|gestrichen|fallen ?gelassen|aufgehoben|hinfällig|zurückgezogen|abgesagt"
    r"|verworfen|nicht mehr (?:nötig|gebraucht|erforderlich|geplant))\b",
    re.IGNORECASE,
)
_PARTICIPLE = (
    r"(?:\w+ed|sent|got|bought|built|done|made|put|found|written|paid|brought|given|told|spoken"
    r"|taken|chosen|drawn|met|sold|set|cut|held|read|rung)"
)
_DONE = re.compile(
    rf"\b(?:done|finished|complete[d]?|sorted|ready"
    rf"|(?:has|have|had|was|were|is|are)(?: (?:now|already|all|just|since|both|been))*"
    rf" {_PARTICIPLE}"
    rf"|went (?:out|in|off)|erledigt|abgeschlossen|fertig|liegt vor|liegen vor"
    r"|(?:ist|sind|wurden?|hat|haben)\b.{1,80}?\b(?:ge\w+|\w+ge\w+(?:t|en)|(?:be|er|ver)\w+t"
    r"|über\w+en))\b"
    rf"|['\u2019](?:ve|s) (?:\w+ )?{_PARTICIPLE}\b",
    re.IGNORECASE,
)
_ANSWERED = re.compile(
    r"\b(?:answered|resolved|settled|settles|clarified|cleared up|decided now"
    r"|geklärt|erledigt|beantwortet|entschieden)\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:mov(?:ed|es|ing)|postponed|brought forward|put (?:off|back)|changed|instead|rather than"
    r"|after all|takes over|verschoben|verschieben|geändert|statt|anstelle"
    r"|stattdessen|doch)\b",
    re.IGNORECASE,
)
_CONFIRMED = re.compile(
    r"\b(?:stays?|stayed|remains?|remained|unchanged|confirmed|still stands|as planned|bestätigt"
    r"|bleib(?:t|en)|geblieben|unverändert)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not|never|nobody|nothing|without|(?:has|have|had|is|are|was|were|did|do|does)n['\u2019]t"
    r"|nicht|kein\w*|niemand|will|would|if|until|to be|wird|werden|soll\w*)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:could|might|would|whether|propos(?:ed|es?|al)|suggest(?:ed|s|ion)?|idea (?:of|that)"
    r"|wanted|if|falls|wenn|ob|könnte\w*|sollte\w*|würde\w*|vorgeschlagen|schl(?:ug|ägt) vor)\b",
    re.IGNORECASE,
)


def without_outcome(text: str) -> str:
    """A sentence without the words that only say what became of a matter."""
    for form in (_DROPPED, _ANSWERED, _MOVED, _CONFIRMED):
        text = form.sub(" ", text)
    return text


def is_outcome(text: str) -> bool:
    """Whether a sentence may say what became of a matter."""
    return any(form.search(text) for form in (_DROPPED, _DONE, _ANSWERED, _MOVED, _CONFIRMED))


def outcome(text: str, kind: CommitmentKind) -> State | None:
    """What a sentence, which is about a matter, says became of it; None for nothing."""
    told: dict[State, bool] = {
        "done": bool(_ANSWERED.search(text)) and kind == "question" and not _NOT.search(text),
        "dropped": bool(_DROPPED.search(text)) and not _SUPPOSED.search(text),
    }
    if not TALK.search(text) and not _SUPPOSED.search(text):
        done = bool(_DONE.search(text)) and kind == "action" and not _NOT.search(text)
        told["done"] = told["done"] or (done and not told["dropped"])
        told["confirmed"] = bool(_CONFIRMED.search(text))
        told["changed"] = bool(_MOVED.search(text)) and kind != "question"
    asks = text.rstrip().endswith("?")
    return next((state for state, holds in told.items() if holds and not asks), None)


def outcome_of_entry(text: str, kind: CommitmentKind, *, same: bool) -> State:
    """What a sentence, an entry of its own, says of a matter of a kind that it takes up again.

    It is the same if it says the same day, person and values as before.
    """
    if _DROPPED.search(text):
        return "dropped"
    if kind != "question" and not _CONFIRMED.search(text) and (not same or _MOVED.search(text)):
        return "changed"
    return "confirmed"
