"""Words and numbers of a text in one form each: "twenty-five" is 25, "£3.20" three pounds twenty.

Numbers are read as they are said in English: "two hundred and twenty-five", "five million", "the
sixteenth of March". Ordinals are "#2", and as days of a month plain numbers. "one" counts only
within a number, as alone it is a pronoun far more often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from indexing.text.terms import stem

_TOKEN = re.compile(
    r"\d[\d,]*(?:\.\d+)?|(?<=\d)(?:st|nd|rd|th)\b|[^\W\d_]+(?:['’][^\W\d_]+)*"  # noqa: RUF001
)
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_MORE = "fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: i for i, word in enumerate(f"{_UNITS} {_MORE}".split())}
_SMALL |= {word: 10 * i for i, word in enumerate(_TENS.split(), start=2)}
_LARGE = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 10**9}
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_RANKS = {word: i for i, word in enumerate(_ORDINALS.split(), start=1)}
_RANKS |= {"twentieth": 20, "thirtieth": 30}
_ENDINGS = ("st", "nd", "rd", "th")
_YEAR = "January February March April May June July August September October November December"
_MONTHS = frozenset(_YEAR.split())
_COINS = {"pound": "penc", "euro": "cent", "dollar": "cent"}
_LONGEST = 24  # words of a number
_HYPHEN = "-‐‑–"  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a number.

    Attributes:
        fact: "12.5", "#2" for second, a stem for a word.
        token: How it is written; the first word of a number.
        start: Its first character.
        end: One past the last.
    """

    fact: str
    token: str
    start: int
    end: int


def terms(text: str) -> list[Term]:
    """The words and numbers of a text, in order."""
    words = [Term(each.group(), each.group(), *each.span()) for each in _TOKEN.finditer(text)]
    found: list[Term] = []
    at = 0
    while at < len(words):
        count, fact = _number(words, at, text) or (1, _word(words[at].token))
        found.append(Term(fact, words[at].token, words[at].start, words[at + count - 1].end))
        at += count
    return _coined(list(_dated(found)))


def _word(token: str) -> str:
    return stem(token.lower().replace("’", "'"))  # noqa: RUF001


def _number(words: Sequence[Term], at: int, text: str) -> tuple[int, str] | None:
    """How many of the words from `at` on are a number, and which; None when the first is none."""
    run = list(islice(_run(words, at, text), _LONGEST))
    if not run:
        return None
    digits = run[0].replace(",", "")
    if digits.isdecimal() and run[1:] and run[1] in _ENDINGS:
        return (2, f"#{Decimal(digits):f}") if words[at].end == words[at + 1].start else None
    whole, group, used, last = Decimal(0), None, 0, ""
    for word in run:
        value = _value(word)
        if value is not None and _follows(last, word):
            group = value if group is None else group + value
        elif word in _LARGE and (group is not None or word != "hundred" or not used):
            group = (Decimal(1) if group is None else group) * _LARGE[word]
            if word != "hundred":
                whole, group = whole + group, None
        elif word in _RANKS and _follows(last, word):
            return used + 1, f"#{whole + (group or 0) + _RANKS[word]:f}"
        elif word != "and" or last not in _LARGE:
            break
        used, last = used + 1, word
    if last == "and":
        used -= 1
    alone = used == 1 and run[0] == "one"
    total = whole + (group or 0) if whole else group or whole  # exact, however many digits
    return None if not used or alone else (used, _plain(total))


def _run(words: Sequence[Term], at: int, text: str) -> Iterator[str]:
    """The words up to the first that no number has, or that does not follow right after."""
    for i in range(at, len(words)):
        word, lower = words[i], words[i].token.lower()
        between = text[words[i - 1].end : word.start] if i > at else ""
        known = lower in _SMALL or lower in _LARGE or lower in _RANKS or lower in ("and", *_ENDINGS)
        if between.strip().strip(_HYPHEN) or not (known or word.token[0].isdecimal()):
            return
        yield lower


def _value(word: str) -> Decimal | None:
    if word[0].isdecimal():
        return Decimal(word.replace(",", ""))
    return Decimal(_SMALL[word]) if word in _SMALL else None


def _follows(last: str, word: str) -> bool:
    """Whether a small number goes on from the word before: at the start, after tens, or a large."""
    if word[0].isdecimal():
        return not last
    small = _SMALL.get(word, _RANKS.get(word, 0))
    tens = _SMALL.get(last, 0) >= 20 and 0 < small < 10
    return not last or last in _LARGE or last == "and" or tens


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _dated(found: Sequence[Term]) -> Iterator[Term]:
    """Ordinals that are days of a month as plain numbers: 16 in "the sixteenth of March"."""
    for i, term in enumerate(found):
        before = [each.token for each in found[max(0, i - 2) : i] if each.fact != "the"]
        after = [each.token for each in found[i + 1 : i + 3]]
        of_month = len(after) > 1 and after[0] == "of" and after[1] in _MONTHS
        digits = term.token[0].isdecimal() and bool(after) and after[0] in _MONTHS
        day = of_month or digits or (bool(before) and before[-1] in _MONTHS)
        ranked = term.fact[0] == "#" and day
        yield Term(term.fact[1:], term.token, term.start, term.end) if ranked else term


def _coined(found: Sequence[Term]) -> list[Term]:
    """Pounds and pence, euros and cents, as one number: 3.2 in "three pounds twenty"."""
    joined: list[Term] = []
    at = 0
    while at < len(found):
        rest = found[at : at + 5]
        count, fact = _coins(rest)
        if count:
            joined += [Term(fact, rest[0].token, rest[0].start, rest[count - 1].end), rest[1]]
        else:
            joined.append(found[at])
        at += count or 1
    return joined


def _coins(rest: Sequence[Term]) -> tuple[int, str]:
    """How many terms are an amount with coins, and which; 0 when they are none."""
    if len(rest) < 3 or not rest[0].fact.isdecimal() or rest[1].fact not in _COINS:
        return 0, ""
    skipped = int(rest[2].fact == "and")
    coins = rest[2 + skipped] if len(rest) > 2 + skipped else rest[1]
    named = len(rest) > 3 + skipped and rest[3 + skipped].fact == _COINS[rest[1].fact]
    if not (coins.fact.isdecimal() and len(coins.fact) < 3 and (named or not skipped)):
        return 0, ""
    if not named and coins.start - rest[1].end > 1:
        return 0, ""  # "three pounds, twenty people"
    whole = Decimal(rest[0].fact) + Decimal(coins.fact) / 100
    return 3 + skipped + int(named), _plain(whole)
