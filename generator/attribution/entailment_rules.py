"""Whether a quote says what a sentence claims: words, numbers, names, order and negation.

These are rules, not a model: each can be explained to the person who checks the answer. They err
on one side. A paraphrase in other words is not verified; a sentence with another number, another
name or the opposite meaning must never be.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from generator.attribution.numbers import terms
from indexing.text.terms import FILLERS, STOP_WORDS, Rarity, spoken, stem, words

_NEGATIONS = """
    no not never none nobody nothing neither nor nowhere without cannot hardly barely unable refuse
    refused refuses reject rejected rejects deny denied denies fail failed fails lack lacks lacked
    unlike against except"""
NEGATIONS = frozenset(_NEGATIONS.split())
_TAKING_BACK = "true right correct case so happen agree way"
_TAKES_BACK = frozenset(stem(word) for word in _TAKING_BACK.split())
_PART = re.compile(r"[!?;:]+|\.(?!\d)|\n\n")
_COMMA = re.compile(r",(?!\d)")

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
        denials: Of the first and last "not" of a part, or its like, what it may deny: stems from
            the comma before it to the end of the part.
    """

    stems: tuple[str, ...]
    facts: tuple[str, ...]
    every: tuple[str, ...]
    denials: tuple[frozenset[str], ...]


def read(sentence: str, *, ordinary: Container[str] = ()) -> Wording:
    """Take a sentence apart.

    Args:
        sentence: Any text.
        ordinary: Lower-case words that are no names although a sentence may start with them.
    """
    text = spoken(sentence)
    found = terms(text)
    every = tuple(term.fact for term in found)
    named = {term.fact for i, term in enumerate(found) if _is_name(term.token, i, ordinary)}
    return Wording(
        stems=tuple(fact for fact in every if _carries(fact)),
        facts=tuple(fact for fact in every if fact in named or fact[0].isdigit() or fact[0] == "#"),
        every=every,
        denials=tuple(_denials(text)),
    )


def _denials(text: str) -> Iterator[frozenset[str]]:
    """Of each part the first, which holds what all later ones do, and the last, the narrowest."""
    for part in _PART.split(text):
        clauses = _COMMA.split(part)
        denying = [i for i, clause in enumerate(clauses) if any(map(_denies, words(clause)))]
        for i in sorted({*denying[:1], *denying[-1:]}):
            yield frozenset(
                term.fact
                for term in terms(",".join(clauses[i:]))
                if _carries(term.fact) and not _denies(term.token.lower())
            )


def _denies(word: str) -> bool:
    return word in NEGATIONS or word.endswith(("n't", "n’t"))  # noqa: RUF001


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


def _about(denial: frozenset[str], claim: Wording) -> bool:
    """Whether a denial may be one of the claim: "nobody would have known" is of something else."""
    return denial <= _TAKES_BACK or not denial.isdisjoint(claim.stems)


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
    if bool(claim.denials) != any(_about(denial, claim) for denial in quote.denials):
        return "one of them is a denial"
    said, quoted = set(claim.every), set(quote.every)
    for a, b in _PAIRS + [(b, a) for a, b in _PAIRS]:
        if a in said and b in quoted and a not in quoted and b not in said:
            return f"{a} against {b}"
    return None
