"""Entailment rules: whether a quote supports a claim, by words, numbers, names, order and negation.

These are rules, not a model: each can be explained to the person who checks the answer. They err
on one side. A paraphrase in other words is not verified; a sentence with another number, another
name or the opposite meaning must never be.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from generator.numbers import Token, tokenize
from indexing.text.english import FILLERS, LINKING_WORDS, MONTHS, STOP_WORDS
from indexing.text.terms import Rarity, stem, strip_annotations, words

_NEGATING = """
    no non not never none nobody nothing neither nor nowhere without cannot hardly barely unable
    refuse refused refuses reject rejected rejects deny denied denies fail failed fails lack lacks
    lacked unlike against except"""
_NEGATIONS = frozenset(_NEGATING.split())
_RETRACTION_WORDS = "true right correct case so happen agree way"
_RETRACTION = frozenset(stem(word) for word in _RETRACTION_WORDS.split())
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
class ParsedSentence:
    """A sentence, parsed.

    The first and the last "not" of a part, or its like, may deny what stands from the comma before
    it to the end of the part.
    """

    stems: tuple[str, ...]  # normalised content words and numbers, in order
    facts: tuple[str, ...]  # numbers and names, in order: "12.5", "#2" for second, stems for names
    norms: tuple[str, ...]  # all its words and numbers, normalised, in order
    denials: tuple[frozenset[str], ...]  # stems of what each may deny


def parse_sentence(sentence: str, *, ordinary: Container[str] = ()) -> ParsedSentence:
    """Words, numbers, names and denials of a sentence.

    Words in lower case that are `ordinary` are no names although a sentence may start with them.
    """
    text = strip_annotations(sentence)
    tokens = _days_first(tokenize(text))
    norms = tuple(token.norm for token in tokens)
    names = {token.norm for i, token in enumerate(tokens) if _is_name(token.text, i, ordinary)}
    return ParsedSentence(
        stems=tuple(norm for norm in norms if _is_content(norm)),
        facts=tuple(norm for norm in norms if norm in names or _is_number(norm)),
        norms=norms,
        denials=tuple(_denials(text)),
    )


def _days_first(tokens: Sequence[Token]) -> list[Token]:
    """Words and numbers, each month after its day: "July 17th" is "17 July"."""
    ordered = [*tokens]
    for at, (month, day) in enumerate(pairwise(tokens)):
        has_day = at > 0 and _is_day(tokens[at - 1])  # "On 17 July 20 people came."
        if month.text in MONTHS and _is_day(day) and not has_day:
            ordered[at : at + 2] = day, month
    return ordered


def _is_day(token: Token) -> bool:
    return token.norm.isdecimal() and len(token.norm) <= 2


def stems_of_names(*names: str) -> frozenset[str]:
    """Stems of the words of names and titles: "heron-5-field-trial" is about Heron."""
    return frozenset(token.norm for name in names for token in tokenize(name))


def _denials(text: str) -> Iterator[frozenset[str]]:
    """Of each part the first, which holds what all later ones do, and the last, the narrowest."""
    for part in _PART.split(text):
        clauses = _COMMA.split(part)
        denying = [i for i, clause in enumerate(clauses) if any(map(_denies, words(clause)))]
        for i in sorted({*denying[:1], *denying[-1:]}):
            yield frozenset(
                token.norm
                for token in tokenize(",".join(clauses[i:]))
                if _is_content(token.norm) and not _denies(token.text.lower())
            )


def _denies(word: str) -> bool:
    return word in _NEGATIONS or word.endswith(("n't", "n’t"))  # noqa: RUF001


def _is_name(word: str, position: int, ordinary: Container[str]) -> bool:
    """Capitalised, no stop word, and at the start of a sentence no ordinary or linking one."""
    lower = word.lower()
    if not word[0].isupper() or lower in STOP_WORDS or lower in FILLERS:
        return len(word) == 1 and word.isupper() and word not in {"A", "I"} and position > 0
    return position > 0 or (lower not in ordinary and lower not in LINKING_WORDS)


_STOP_STEMS = frozenset(stem(word) for word in STOP_WORDS | FILLERS)


def _is_content(norm: str) -> bool:
    return norm not in _STOP_STEMS


def _is_number(norm: str) -> bool:
    return norm[0].isdigit() or norm[0] == "#"


REPEATED = 0.85
"""Share of a question's words that have to stand in the same order."""

_REORDERED = "names or numbers are in another order"
_REPORTING_VERBS = "say says said told mentioned stated explained according"
_REPORTING = frozenset(stem(word) for word in _REPORTING_VERBS.split())
_CHANGING_VERBS = """move moves moved shift shifts shifted change changes changed postponed delayed
    raise raised rose rises increase increased cut cuts reduce reduced fell lower lowered goes went
    gone grew dropped extend extended bring brought put pushed"""
_CHANGES = frozenset(stem(word) for word in _CHANGING_VERBS.split())
_BEFORE_WORDS = "from was were had earlier originally previously first before initially until old"
_BEFORE = frozenset(stem(word) for word in _BEFORE_WORDS.split())
_NEAR = 8  # words
_COPULA_WORDS = "scheduled planned set due located currently"
_COPULAS = frozenset(stem(word) for word in _COPULA_WORDS.split())
SAYS_NOTHING = _REPORTING | _COPULAS
"""Stems that say only that something is so: of a time or place, or that somebody said it."""
_PAIRS = [tuple(stem(word) for word in pair.split("/")) for pair in _OPPOSITES.split()]


def overlap(
    claim: ParsedSentence, quote: ParsedSentence, *, about: Container[str] = (), rarity: Rarity
) -> float:
    """The share of the claim's stems that are in the quote, weighted by rarity, 0 to 1.

    Names that the quote's context gives (`about`), verbs of reporting, and words that say of a time
    or place only that it is one ("is scheduled for") are not counted.
    """
    in_context = {fact for fact in claim.facts if fact in about and fact not in quote.stems}
    said_anyway = in_context | _REPORTING | (_COPULAS - set(quote.stems))
    stems = [word for word in claim.stems if word not in said_anyway]
    return rarity.share(stems, quote.stems)


def order_agreement(claim: ParsedSentence, quote: ParsedSentence) -> float:
    """Of the claim's words that the quote has, the share in the same order, 0 to 1.

    By their longest common subsequence, as ROUGE-L (Lin, ACL 2004).
    """
    common = [word for word in claim.stems if word in quote.stems]
    return _longest_common(common, quote.stems) / len(common) if common else 0.0


def _longest_common(a: Sequence[str], b: Sequence[str]) -> int:
    """Length of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    return int(LCSseq.similarity(a, b))


def _concerns(denial: frozenset[str], claim: ParsedSentence) -> bool:
    """Whether a denial may be one of the claim: "nobody would have known" is of something else."""
    return denial <= _RETRACTION or not denial.isdisjoint(claim.stems)


def find_contradiction(
    claim: ParsedSentence, quote: ParsedSentence, *, about: Container[str] = ()
) -> str | None:
    """Why the quote cannot support the claim, or None.

    `about` has the names given by the quote's context: its speaker, its document's title.
    """
    if (lacking := _find_lacking(claim, quote, about=about)) is not None:
        return lacking
    if is_reordered(claim.facts, quote):
        return _REORDERED
    if _is_denial_of_one(claim, quote):
        return "one of them is a denial"
    if is_superseded(claim, quote):
        return "that was so before it changed"
    return _find_opposites(set(claim.norms), set(quote.norms))


def is_opposite(claim: ParsedSentence, quote: ParsedSentence) -> bool:
    """Whether one of them denies what the other states, or has the opposite of its words."""
    opposites = _find_opposites(set(claim.norms), set(quote.norms))
    return _is_denial_of_one(claim, quote) or opposites is not None


def _is_denial_of_one(claim: ParsedSentence, quote: ParsedSentence) -> bool:
    """Whether one of them denies something of the claim and the other does not."""
    return bool(claim.denials) != any(_concerns(denial, claim) for denial in quote.denials)


def repeats(claim: ParsedSentence, question: ParsedSentence) -> bool:
    """Whether a claim says words of a question again: in its order, and not the opposite.

    Of the question's words that it has; there must be some.
    """
    common = [word for word in dict.fromkeys(question.stems) if word in claim.stems]
    return (
        bool(common)
        and _longest_common(common, claim.stems) >= REPEATED * len(common)
        and not is_reordered([fact for fact in claim.facts if fact in question.norms], question)
        and bool(claim.denials) == bool(question.denials)
        and _find_opposites({*claim.norms}, {*question.norms}) is None
    )


def find_veto(
    claim: ParsedSentence, excerpt: ParsedSentence, *, about: Container[str] = ()
) -> str | None:
    """Why an excerpt cannot support a claim in other words either, or None.

    As `find_contradiction`, but of denials only the claim's own, as an excerpt of several sentences
    nearly always denies something; and names and numbers may be in another order, if names among
    themselves and numbers among themselves are not.
    """
    if (lacking := _find_lacking(claim, excerpt, about=about)) is not None:
        return lacking
    numbers = [fact for fact in claim.facts if _is_number(fact)]
    names = [fact for fact in claim.facts if not _is_number(fact)]
    if is_reordered(numbers, excerpt) or is_reordered(names, excerpt):
        return _REORDERED
    if claim.denials and not any(_concerns(denial, claim) for denial in excerpt.denials):
        return "only the sentence is a denial"
    if is_superseded(claim, excerpt):
        return "that was so before it changed"
    return _find_opposites(set(claim.norms), set(excerpt.norms))


def _find_lacking(
    claim: ParsedSentence, quote: ParsedSentence, *, about: Container[str]
) -> str | None:
    """The first number or name that the quote lacks."""
    for fact in claim.facts:
        if fact not in quote.norms and (_is_number(fact) or fact not in about):
            return f"{fact} is not in the quote"
    for amount, unit in pairwise(claim.norms):
        counts = amount[0].isdigit() and _is_content(unit) and not unit[0].isdigit()
        if counts and unit not in quote.norms:
            return f"{amount} {unit} is not in the quote"
    return None


def is_superseded(claim: ParsedSentence, quote: ParsedSentence) -> bool:
    """Whether the claim states as it is what the quote says changed: "moved from May to June"."""
    numbers = {fact for fact in claim.facts if _is_number(fact)}
    if not numbers or not _BEFORE.isdisjoint(claim.norms):
        return False
    norms = quote.norms
    for at in (i for i, norm in enumerate(norms) if norm == "from"):
        changed = not _CHANGES.isdisjoint(norms[max(0, at - _NEAR) : at])
        to = next((i for i in range(at + 1, min(at + _NEAR, len(norms))) if norms[i] == "to"), None)
        if changed and to is not None:
            old, new = set(norms[at:to]), set(norms[to : to + _NEAR])
            if numbers & (old - new) and not numbers & (new - old):
                return True
    return False


def is_reordered(facts: Sequence[str], quote: ParsedSentence) -> bool:
    """Whether those of some names and numbers that the quote has are in another order there."""
    common = [fact for fact in dict.fromkeys(facts) if fact in quote.norms]
    return _longest_common(common, quote.norms) < len(common)


def _find_opposites(claim: set[str], quote: set[str]) -> str | None:
    """The first pair of opposites of which each has one alone."""
    for a, b in _PAIRS + [(b, a) for a, b in _PAIRS]:
        if a in claim and b in quote and a not in quote and b not in claim:
            return f"{a} against {b}"
    return None
