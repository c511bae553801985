"""Whether a quote says what a sentence claims: words, numbers, names, order and negation.

These are rules, not a model: each can be explained to the person who checks the answer. They err
on one side. A paraphrase in other words is not verified; a sentence with another number, another
name or the opposite meaning must never be.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import pairwise

from generator.terms import FILLERS, STOP_WORDS, Rarity, spoken, stem, words

_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)*")  # noqa: RUF001
# "one" is left out: it is a pronoun far more often than a number.
_UNITS = "zero _ two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_MORE = "fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth"
_NUMBERS = {word: i for i, word in enumerate(f"{_UNITS} {_MORE}".split())}
_NUMBERS |= {word: 10 * i for i, word in enumerate(_TENS.split(), start=2)}
_NUMBERS |= {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9}
_RANKS = {word: f"#{i}" for i, word in enumerate(_ORDINALS.split(), start=1)}

_NEGATIONS = """
    no not never none nobody nothing neither nor nowhere without cannot hardly barely unable refuse
    refused refuses reject rejected rejects deny denied denies fail failed fails lack lacks lacked
    unlike against except"""
NEGATIONS = frozenset(_NEGATIONS.split())

_OPPOSITES = """
    rose/fell rose/fall rise/fell grew/shrank won/lost bought/sold gained/lost
    increase/decrease increase/reduce increase/cut raise/cut raise/lower rise/fall grow/shrink
    up/down
    more/less more/fewer higher/lower high/low above/below before/after accept/reject approve/reject
    agree/disagree support/oppose include/exclude add/remove win/lose buy/sell open/close
    start/stop begin/end allow/forbid permit/prohibit early/late first/last always/never all/none
    true/false success/failure succeed/fail keep/drop cheap/expensive strong/weak hard/soft
    easy/difficult easy/hard fast/slow big/small large/small long/short old/new possible/impossible
    like/dislike love/hate good/bad better/worse best/worst minimum/maximum most/least in/out
    with/without tenant/landlord buyer/seller lender/borrower employer/employee may/must"""


@dataclass(frozen=True, slots=True)
class Wording:
    """A sentence taken apart.

    Attributes:
        stems: Stems of the words that carry meaning, in order.
        facts: Numbers and names, in order: "12.5", "#2" for second, stems for names.
        every: All its words and numbers as they could be facts elsewhere, in order.
        negated: Whether it denies something.
    """

    stems: tuple[str, ...]
    facts: tuple[str, ...]
    every: tuple[str, ...]
    negated: bool


def read(sentence: str, *, ordinary: Container[str] = ()) -> Wording:
    """Take a sentence apart.

    Args:
        sentence: Any text.
        ordinary: Lower-case words that are no names although a sentence may start with them.
    """
    text = spoken(sentence)
    tokens = _TOKEN.findall(text)
    every = _compounds([_as_fact(token) for token in tokens])
    named = {_as_fact(token) for i, token in enumerate(tokens) if _is_name(token, i, ordinary)}
    return Wording(
        stems=tuple(fact for fact in every if _carries(fact)),
        facts=tuple(fact for fact in every if fact in named or fact[0].isdigit() or fact[0] == "#"),
        every=tuple(every),
        negated=any(word in NEGATIONS or word.endswith("n't") for word in words(text)),
    )


def _as_fact(token: str) -> str:
    lower = token.lower().replace("’", "'")  # noqa: RUF001
    if token[0].isdigit():
        whole, _, fraction = token.replace(",", "").partition(".")
        fraction = fraction.rstrip("0")
        whole = whole.lstrip("0") or "0"
        return f"{whole}.{fraction}" if fraction else whole
    if lower in _RANKS:
        return _RANKS[lower]
    return str(_NUMBERS[lower]) if lower in _NUMBERS else stem(lower)


def _compounds(facts: Sequence[str]) -> list[str]:
    """Tens and a unit that follow each other are one number, as in "twenty five"."""
    joined: list[str] = []
    for fact in facts:
        last = joined[-1] if joined else ""
        tens = last.isdigit() and len(last) == 2 and last[1] == "0" and last != "10"
        if tens and fact.isdigit() and len(fact) == 1 and fact != "0":
            joined[-1] = str(int(last) + int(fact))
        else:
            joined.append(fact)
    return joined


def _is_name(token: str, place: int, ordinary: Container[str]) -> bool:
    """Capitalised, no stop word, and at the start of a sentence not an ordinary word either."""
    lower = token.lower()
    if not token[0].isupper() or lower in STOP_WORDS or lower in FILLERS:
        return len(token) == 1 and token.isupper() and token not in {"A", "I"} and place > 0
    return place > 0 or lower not in ordinary


_STOPPED = frozenset(stem(word) for word in STOP_WORDS | FILLERS)


def _carries(fact: str) -> bool:
    return fact not in _STOPPED


_REPORTED = "say says said told mentioned stated explained according"
_REPORTING = frozenset(stem(word) for word in _REPORTED.split())
_PAIRS = [tuple(stem(word) for word in pair.split("/")) for pair in _OPPOSITES.split()]


def overlap(claim: Wording, quote: Wording, *, about: Container[str] = (), rarity: Rarity) -> float:
    """The share of what the claim says whose words are in the quote, weighted by rarity.

    Names that the quote's surroundings give (`about`) and verbs of reporting are not counted.
    """
    given = {fact for fact in claim.facts if fact in about and fact not in quote.stems}
    wanted = [word for word in claim.stems if word not in given and word not in _REPORTING]
    return rarity.share(wanted, quote.stems)


def in_order(claim: Wording, quote: Wording) -> float:
    """Of the claim's words that the quote has, the share in the same order (LCS), 0 to 1."""
    common = [word for word in claim.stems if word in quote.stems]
    return _longest_common(common, quote.stems) / len(common) if common else 0.0


def _longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = row[:]
        for j, y in enumerate(b, start=1):
            row[j] = before[j - 1] + 1 if x == y else max(before[j], row[j - 1])
    return row[-1]


def contradiction(claim: Wording, quote: Wording, *, about: Container[str] = ()) -> str | None:
    """Why the quote cannot carry the claim, or None.

    Args:
        claim: A sentence of an answer.
        quote: What it is said to rest on.
        about: Names given by the quote's surroundings: its speaker, its document's title.
    """
    for fact in claim.facts:
        number = fact[0].isdigit() or fact[0] == "#"
        if fact not in quote.every and (number or fact not in about):
            return f"{fact} is not in the quote"
    for amount, unit in pairwise(claim.every):
        counts = amount[0].isdigit() and _carries(unit) and not unit[0].isdigit()
        if counts and unit not in quote.every:
            return f"{amount} {unit} is not in the quote"
    stated = [fact for fact in dict.fromkeys(claim.facts) if fact in quote.every]
    if _longest_common(stated, quote.every) < len(stated):
        return "names or numbers are in another order"
    if claim.negated != quote.negated:
        return "one of them is a denial"
    said, quoted = set(claim.every), set(quote.every)
    for a, b in _PAIRS + [(b, a) for a, b in _PAIRS]:
        if a in said and b in quoted and a not in quoted and b not in said:
            return f"{a} against {b}"
    return None
