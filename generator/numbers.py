"""Tokens of a text, normalised: "twenty-five" is 25, "three pounds twenty" 3.2 pounds.

Numbers are read as they are said in English: "two hundred and twenty-five", "five million", "the
sixteenth of March". Ordinals are "#2", and as days of a month plain numbers. "one" counts only
within a number, as alone it is a pronoun far more often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from indexing.text.english import MONTHS, ORDINALS, SCALES, TENS, UNITS
from indexing.text.terms import stem

_TOKEN = re.compile(
    r"\d[\d,]*(?:\.\d+)?|(?<=\d)(?:st|nd|rd|th)\b|[^\W\d_]+(?:['’][^\W\d_]+)*"  # noqa: RUF001
)
_SMALL = {word: i for i, word in enumerate(UNITS)} | TENS
_RANKS = {word: i for i, word in enumerate(ORDINALS, start=1)} | {"twentieth": 20, "thirtieth": 30}
_ENDINGS = ("st", "nd", "rd", "th")
_COINS = {"pound": "penc", "euro": "cent", "dollar": "cent"}
_MOST_WORDS = 24  # of a number
_HYPHEN = "-‐‑–"  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a number."""

    norm: str  # its normalised form: "12.5", "#2" for second, a stem for a word
    text: str  # as written; of a number in words, the first
    start: int  # its first character
    end: int  # one past the last


def tokenize(text: str) -> list[Token]:
    """The words and numbers of a text, in order."""
    words = [Token(each.group(), each.group(), *each.span()) for each in _TOKEN.finditer(text)]
    tokens: list[Token] = []
    at = 0
    while at < len(words):
        count, norm = _number(words, at, text) or (1, _word(words[at].text))
        tokens.append(Token(norm, words[at].text, words[at].start, words[at + count - 1].end))
        at += count
    return _join_coins(list(_days_of_month(tokens)))


def _word(word: str) -> str:
    return stem(word.lower().replace("’", "'"))  # noqa: RUF001


def _number(words: Sequence[Token], at: int, text: str) -> tuple[int, str] | None:
    """How many of the words from `at` on are a number, and which; None when the first is none."""
    run = list(islice(_run(words, at, text), _MOST_WORDS))
    if not run:
        return None
    digits = run[0].replace(",", "")
    if digits.isdecimal() and run[1:] and run[1] in _ENDINGS:
        return (2, f"#{Decimal(digits):f}") if words[at].end == words[at + 1].start else None
    whole, group, count, last = Decimal(0), None, 0, ""
    for word in run:
        value = _value(word)
        if value is not None and _follows(last, word):
            group = value if group is None else group + value
        elif word in SCALES and (group is not None or word != "hundred" or not count):
            group = (Decimal(1) if group is None else group) * SCALES[word]
            if word != "hundred":
                whole, group = whole + group, None
        elif word in _RANKS and _follows(last, word):
            return count + 1, f"#{whole + (group or 0) + _RANKS[word]:f}"
        elif word != "and" or last not in SCALES:
            break
        count, last = count + 1, word
    if last == "and":
        count -= 1
    alone = count == 1 and run[0] == "one"
    total = whole + (group or 0) if whole else group or whole  # exact, however many digits
    return None if not count or alone else (count, _plain(total))


def _run(words: Sequence[Token], at: int, text: str) -> Iterator[str]:
    """The words up to the first that no number has, or that does not follow right after."""
    for i in range(at, len(words)):
        word, lower = words[i], words[i].text.lower()
        between = text[words[i - 1].end : word.start] if i > at else ""
        known = lower in _SMALL or lower in SCALES or lower in _RANKS or lower in ("and", *_ENDINGS)
        if between.strip().strip(_HYPHEN) or not (known or word.text[0].isdecimal()):
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
    tens = last in TENS and 0 < small < 10
    return not last or last in SCALES or last == "and" or tens


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _days_of_month(tokens: Sequence[Token]) -> Iterator[Token]:
    """Ordinals that are days of a month as plain numbers: 16 in "the sixteenth of March"."""
    for i, token in enumerate(tokens):
        before = [each.text for each in tokens[max(0, i - 2) : i] if each.norm != "the"]
        after = [each.text for each in tokens[i + 1 : i + 3]]
        of_month = len(after) > 1 and after[0] == "of" and after[1] in MONTHS
        digits = token.text[0].isdecimal() and bool(after) and after[0] in MONTHS
        day = of_month or digits or (bool(before) and before[-1] in MONTHS)
        ordinal = token.norm[0] == "#"
        yield replace(token, norm=token.norm[1:]) if ordinal and day else token


def _join_coins(tokens: Sequence[Token]) -> list[Token]:
    """Pounds and pence, euros and cents, as one number: 3.2 in "three pounds twenty"."""
    amounts: list[Token] = []
    at = 0
    while at < len(tokens):
        rest = tokens[at : at + 5]
        count, norm = _coins(rest)
        if count:
            amounts += [replace(rest[0], norm=norm, end=rest[count - 1].end), rest[1]]
        else:
            amounts.append(tokens[at])
        at += count or 1
    return amounts


def _coins(rest: Sequence[Token]) -> tuple[int, str]:
    """How many tokens are an amount with coins, and which; 0 when they are none."""
    if len(rest) < 3 or not rest[0].norm.isdecimal() or rest[1].norm not in _COINS:
        return 0, ""
    skip = int(rest[2].norm == "and")
    coins = rest[2 + skip] if len(rest) > 2 + skip else rest[1]
    named = len(rest) > 3 + skip and rest[3 + skip].norm == _COINS[rest[1].norm]
    if not (coins.norm.isdecimal() and len(coins.norm) < 3 and (named or not skip)):
        return 0, ""
    if not named and coins.start - rest[1].end > 1:
        return 0, ""  # "three pounds, twenty people"
    whole = Decimal(rest[0].norm) + Decimal(coins.norm) / 100
    return 3 + skip + int(named), _plain(whole)
