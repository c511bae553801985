"""A request such as "Every time the budget was discussed": all places that the reader finds."""

from __future__ import annotations

from collections.abc import Iterator

from generator.instances.instances import Instances
from generator.instances.places import Place
from rag_app.requests.german import in_english
from rag_app.requests.listing import Line
from rag_app.requests.target import Target, Words, groups_of, pattern
from rag_app.requests.wording import Wording

_SHOW = r"(?:(?:list|show|find|give|name|collect|quote)(?: me| us)? )"
_EVERY = r"(?:every|each|all(?: of)?(?: the)?)(?: single)?"
_PLACES = r"(?:times?|places?|passages?|instances?|occasions?|occurrences?|moments?|statements?)"
_WHERE = r"(?: (?:that|when|where|of|on|about|in which|at which|on which))?"
_SPOKEN = r"(?:discussed|raised|brought up|talked about|spoken (?:about|of)|mentioned|named)"
_PATTERN = pattern(
    rf"{_SHOW}?{_EVERY} {_PLACES}{_WHERE} (?P<about{{}}>.+?)"
    rf" (?:(?:was|were|is|are|has been|have been) {_SPOKEN}|(?:came|comes|come) up)",
    rf"{_SHOW}?{_EVERY} {_PLACES}{_WHERE} (?P<phrase{{}}>.+)",
    rf"{_SHOW}?everything (?:that )?(?:(?:was|is|has been) )?said (?:about|on) (?P<about{{}}>.+)",
    r"how (?:often|many times) (?P<happened{}>(?:did|have|has) (?:we|the (?:team|group|board"
    r"|committee|council)) .+)",
)


def match(words: Words) -> Target | None:
    """A request for every place where something is said."""
    if not groups_of(_PATTERN, words.text):
        return None
    return Target("instances", "a request for every place that says so", words.scope)


def asked_in(question: str) -> str:
    """What the reader is asked for each passage, where a question asks for every one."""
    bare = " ".join(question.split()).strip(" ?!.")
    groups = groups_of(_PATTERN, bare) or groups_of(_PATTERN, in_english(question))
    if about := groups.get("about"):
        return f"What was said about {about}?"
    return f"{groups.get('phrase') or groups.get('happened') or bare}?"


STATED = "The number, as it is said"
ABOUT = "About {number} places ({low} to {high}), {found} found, {first} to {last} shown"
COUNTED = (
    "Counted, as no place was found that says it: about {number} places ({low} to {high}), {found} "
    "found, {first} to {last} shown"
)


def told(found: Instances) -> tuple[str, dict[str, int]]:
    """How many there are, `ABOUT` or `COUNTED`, and what stands in its braces."""
    about = found.estimate
    numbers = (*map(round, (about.number, about.low, about.high)), found.found)
    shown = found.start + bool(found.places), found.start + len(found.places)
    names = ("number", "low", "high", "found", "first", "last")
    values = dict(zip(names, (*numbers, *shown), strict=True))
    return (COUNTED if found.counted else ABOUT), values


def lines(found: Instances, wording: Wording) -> Iterator[Line]:
    """How many there are, then each of a page; none where none was found."""
    if not found.found:
        return
    if found.stated is not None:
        yield Line(f"{wording.say(STATED)}:", found.stated.statement)
    message, values = told(found)
    yield Line(f"{wording.say(message, **values)}:")
    for one in found.places:
        yield Line(_heading(one, found, wording), one.statement)
    if values["last"] < found.found:
        yield Line(wording.say("rag-app every shows all"))


def _heading(place: Place, found: Instances, wording: Wording) -> str:
    day = found.days[place.document.id] or wording.say("no date")
    return ", ".join(filter(None, (place.document.title, day, place.statement.speaker))) + ":"
