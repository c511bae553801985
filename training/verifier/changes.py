"""Changes of a sentence that make it say something else: names, numbers, opposites, negation."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_PAIRS = (
    "first last|most least|largest smallest|biggest smallest|highest lowest|before after|"
    "north south|northern southern|east west|eastern western|increase decrease|"
    "increased decreased|increasing decreasing|male female|men women|man woman|win lose|won lost|"
    "older younger|oldest youngest|more less|more fewer|higher lower|started ended|start end|"
    "began ended|begin end|best worst|always never|larger smaller|longest shortest|"
    "earliest latest|early late|legal illegal|good bad|major minor|rich poor|inside outside|"
    "above below|allowed forbidden|like dislike|liked disliked|likes dislikes|cause prevent|"
    "caused prevented|son daughter|mother father|husband wife|brother sister|king queen|"
    "positive negative|strong weak|cheap expensive|buy sell|bought sold|easy difficult|"
    "public private|possible impossible|same different|new old|long short|right wrong|"
    "summer winter|agreed disagreed|agree disagree|accepted rejected|accept reject|"
    "supported opposed|support oppose|approved rejected|included excluded|include exclude|"
    "keep remove|add remove|added removed|raise lower|raised lowered|rose fell|rise fall|"
    "better worse|faster slower|fast slow|hard soft|large small|big small|high low|"
    "useful useless|necessary unnecessary|important unimportant|satisfied dissatisfied|"
    "sufficient insufficient|helpful unhelpful|familiar unfamiliar|likely unlikely|"
    "comfortable uncomfortable|simple complicated|open closed|up down|left right|"
    "majority minority|advantage disadvantage|advantages disadvantages|success failure|"
    "successful unsuccessful|optimistic pessimistic|encouraged discouraged|praised criticised"
)
_MONTHS = "January February March April May June July August September October November December"
_MONTH = _MONTHS.split()
_NUMBERS = (
    "two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty"
)
_WORDS = _NUMBERS.split()
_SHARE = {"name": 1.0, "roles": 1.5, "number": 1.5, "date": 1.5, "opposite": 1.2, "negation": 0.5}
"""How often a kind of change comes first, about."""
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w])")
_NAME = re.compile(r"\b[A-Z][\w'-]*[\w](?: (?:of the |of )?[A-Z][\w'-]*)*")
_OPENING = (
    "the a an it its they he she we i you this that these those there his her their our my one "
    "some many when while if as in on at for to by from with after before although though because "
    "however also then but and or so since first second finally moreover furthermore additionally "
    "what who which how why where whether not no yes besides therefore instead regarding according "
    "during under over between among another other both each every all most several few team "
    "participants group members people speakers everyone discussion"
)
_FIRST = frozenset(_OPENING.split())
_AUXILIARY = re.compile(
    r"\b(is|are|was|were|could|should|would|will|has|had|can|did|does|do)\b(?! n[o']t\b| n't)"
)
_NOT = re.compile(r" (?:not|never)\b|(?<=\w)n['’]t\b| n['’]t\b")  # noqa: RUF001
_SYMMETRIC = re.compile(
    r"\b(agree|disagree|discuss|both|together|met|meet|talk|between|share|debate|argu|differ|same)"
)
_JOINED = re.compile(r"^[\s,&]*(?:and|or|nor|as well as|with|,)?[\s,&]*(?:the |The )?$")


@dataclass(frozen=True, slots=True)
class Change:
    """A sentence that says something else than before.

    Attributes:
        text: The new sentence.
        kind: What was changed.
        spans: Characters of `text` that are new.
    """

    text: str
    kind: str
    spans: tuple[tuple[int, int], ...]


def _opposites() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for pair in _PAIRS.split("|"):
        one, other = pair.split()
        found[one].append(other)
        found[other].append(one)
    return found


_OPPOSITES = _opposites()


def names_in(text: str, known: Sequence[str] = ()) -> list[tuple[int, int]]:
    """Characters of the names of a text: known ones, and runs of capitalised words."""
    found: list[tuple[int, int]] = []
    for name in sorted(known, key=len, reverse=True):
        for match in re.finditer(rf"\b{re.escape(name)}\b", text, re.IGNORECASE):
            if not _taken(found, *match.span()):
                found.append(match.span())
    for match in _NAME.finditer(text):
        start, end = match.span()
        words = match.group().split()
        while words and words[0].lower() in _FIRST:
            start += len(words[0]) + 1
            words = words[1:]
        alone = len(words) == 1 and start == 0  # may be an ordinary word
        if words and not alone and not _taken(found, start, end):
            found.append((start, end))
    return sorted(found)


def _taken(found: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(a < end and start < b for a, b in found)


def changes(
    text: str, rng: random.Random, *, known: Sequence[str] = (), others: Sequence[str] = ()
) -> list[Change]:
    """At most one change of each kind, in random order.

    Args:
        text: A true sentence.
        rng: Decides.
        known: Names that are certainly names, such as those of a meeting's speakers.
        others: Names that may take the place of one.
    """
    names = names_in(text, known)
    found = [
        *_named(text, names, others, rng),
        *_exchanged(text, names, rng),
        *_numbered(text, rng),
        *_opposed(text, rng),
        *_negated(text, rng),
    ]
    found = [one for one in found if one.text != text]
    return sorted(found, key=lambda one: -rng.random() * _SHARE[one.kind])


def _put(text: str, start: int, end: int, new: str, kind: str) -> Change:
    return Change(f"{text[:start]}{new}{text[end:]}", kind, ((start, start + len(new)),))


def _named(
    text: str, names: Sequence[tuple[int, int]], others: Sequence[str], rng: random.Random
) -> Iterator[Change]:
    if not names or not others:
        return
    start, end = rng.choice(names)
    parts = set(text[start:end].lower().split())
    for _ in range(8):
        new = rng.choice(others)
        if not parts & set(new.lower().split()) and new not in text:
            yield _put(text, start, end, new, "name")
            return


def _exchanged(text: str, names: Sequence[tuple[int, int]], rng: random.Random) -> Iterator[Change]:
    if len(names) < 2 or _SYMMETRIC.search(text):
        return
    at = rng.randrange(len(names) - 1)
    (a, b), (c, d) = names[at], names[at + 1]
    one, other = text[a:b], text[c:d]
    if one.lower() == other.lower() or _JOINED.match(text[b:c]):
        return
    new = f"{text[:a]}{other}{text[b:c]}{one}{text[d:]}"
    moved = a + len(other) + (c - b)
    yield Change(new, "roles", ((a, a + len(other)), (moved, moved + len(one))))


def _numbered(text: str, rng: random.Random) -> Iterator[Change]:
    options: list[Change] = []
    for match in _NUMBER.finditer(text):
        options.append(_put(text, *match.span(), _other_number(match.group(), rng), "number"))
    for match in re.finditer(r"[A-Za-z]+", text):
        word = match.group()
        if word.lower() in _WORDS:
            other = rng.choice([each for each in _WORDS if each != word.lower()])
            options.append(_put(text, *match.span(), other, "number"))
        elif word in _MONTH and word not in {"May", "March"}:
            other = rng.choice([each for each in _MONTH if each != word])
            options.append(_put(text, *match.span(), other, "date"))
    if options:
        yield rng.choice(options)


def _other_number(number: str, rng: random.Random) -> str:
    """A year becomes one nearby, another number one of about its size."""
    value = int(re.sub(r"\D", "", number)[:9] or 1)
    if len(number) == 4 and 1000 <= value <= 2100:
        return str(value + rng.choice((-1, 1)) * rng.randint(1, 40))
    other = rng.randint(2, 2 * value + 8)
    return str(other + (other == value))


def _opposed(text: str, rng: random.Random) -> Iterator[Change]:
    options = [
        _put(text, *match.span(), rng.choice(_OPPOSITES[match.group()]), "opposite")
        for match in re.finditer(r"[a-z]+", text)
        if match.group() in _OPPOSITES
    ]
    if options:
        yield rng.choice(options)


def _negated(text: str, rng: random.Random) -> Iterator[Change]:
    gone = _NOT.search(text)
    if gone:
        start = gone.start()
        begin = text.rfind(" ", 0, start) + 1
        end = text.find(" ", gone.end())
        size = gone.end() - gone.start()
        new = text[:start] + text[gone.end() :]
        yield Change(
            new, "negation", ((begin, max(begin + 1, (end if end > 0 else len(text)) - size)),)
        )
        return
    places = list(_AUXILIARY.finditer(text))
    if places:
        place = rng.choice(places)
        yield _put(text, place.end(), place.end(), " not", "negation")
