"""The language of a request: messages, numbers and dates.

A handler says whom it speaks to with `speak_to`; what it calls then finds the language here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from babel.dates import format_skeleton
from babel.numbers import format_decimal, format_percent
from starlette.requests import cookie_parser

from rag_app.chat.language.catalogue import ENGLISH, LANGUAGES, translations

COOKIE = "rag-app-language"  # what somebody chose on the page
LONGEST_HEADER = 1000  # characters of a header that are looked at
REMEMBERED = 4096  # numbers and days as they are written, for lists of many documents
_USUAL = {ENGLISH: "en_GB"}  # where a browser names no region


@dataclass(frozen=True, slots=True)
class Language:
    """A language, as somebody speaks it."""

    code: str = ENGLISH  # a key of `LANGUAGES`
    locale: str = _USUAL[ENGLISH]  # how numbers and days are written, such as "de_CH"


_UNKNOWN = Language()  # of whoever says nothing about it
_current: ContextVar[Language] = ContextVar("language", default=_UNKNOWN)


def usual(code: str) -> Language:
    """A language as it is spoken where a browser names no region."""
    return Language(code, _USUAL.get(code, code))


def current() -> Language:
    """The language that is spoken."""
    return _current.get()


def speak_to(headers: Mapping[str, str]) -> Language:
    """Speak the language of whoever sent these headers, from here on; it is returned."""
    language = language_of(headers)
    _current.set(language)
    return language


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Speak a language for a moment."""
    token = _current.set(language)
    try:
        yield
    finally:
        _current.reset(token)


def language_of(headers: Mapping[str, str]) -> Language:
    """The language that was chosen on the page, else the first of the browser's that is here."""
    accepted = _accepted(headers.get("accept-language", "")[:LONGEST_HEADER])
    choice = cookie_parser(headers.get("cookie", "")).get(COOKIE)
    if choice in LANGUAGES:
        accepted = [one for one in accepted if one.language == choice] or [Locale.parse(choice)]
    for locale in accepted:
        if locale.language in LANGUAGES:
            name = str(locale) if locale.territory else _USUAL.get(locale.language, str(locale))
            return Language(locale.language, name)
    return Language()


def _accepted(header: str) -> list[Locale]:
    """The locales that a browser names, the most wanted first (RFC 9110, 12.5.4)."""
    locales: list[tuple[float, Locale]] = []
    for part in header.split(","):
        tag, _, weight = part.partition(";")
        try:
            share = float(weight.strip().removeprefix("q=") or 1)
            locales.append((-share, Locale.parse(tag.strip(), sep="-")))
        except (ValueError, UnknownLocaleError):  # of a language that nobody knows
            continue
    return [locale for _, locale in sorted(locales, key=lambda pair: pair[0])]


def gettext(message: str, **values: object) -> str:
    """A message, its `%(name)s` filled in."""
    text = translations(current().code).gettext(message)
    return text % values if values else text


def ngettext(one: str, many: str, number: int, /, **values: object) -> str:
    """A message about so many things; `%(num)s` is their number, written as in the language."""
    text = translations(current().code).ngettext(one, many, number)
    return text % {"num": count(number), **values}


def count(number: int) -> str:
    """A whole number, such as "1,234"."""
    return _count(number, current().locale)


@lru_cache(maxsize=REMEMBERED)
def _count(number: int, locale: str) -> str:
    return str(format_decimal(number, locale=locale))


def decimal(number: float, digits: int) -> str:
    """A number with so many digits after its point."""
    pattern = "#,##0." + "0" * digits if digits else "#,##0"
    return str(format_decimal(number, pattern, locale=current().locale))


def percent(share: float) -> str:
    """A share of 1 in percent, without digits after the point."""
    return str(format_percent(share, locale=current().locale))


def day(iso: str, *, month: str = "MMM") -> str:
    """A day in ISO 8601, such as "3 May 2026"; itself if it is none, such as "2026-05".

    With the `month` "MMMM" its whole name is written.
    """
    return _day(iso, month, current().locale)


@lru_cache(maxsize=REMEMBERED)
def _day(iso: str, month: str, locale: str) -> str:
    try:
        then = date.fromisoformat(iso[:10])
    except ValueError:
        return iso
    return str(format_skeleton(f"y{month}d", then, locale=locale))


def near_day(moment: str) -> str:
    """The day of an ISO 8601 time, such as "yesterday" or "3 May 2026"."""
    then = datetime.fromisoformat(moment)
    days = (datetime.now(UTC).date() - then.date()).days
    return {0: gettext("today"), 1: gettext("yesterday")}.get(days) or day(moment)


def duration(seconds: float) -> str:
    """A time span in its largest unit, such as "40 s" or "3 min"."""
    if seconds < 90:
        return f"{decimal(seconds, 0)} s"
    minutes = seconds < 5400
    return f"{decimal(seconds / 60, 0)} min" if minutes else f"{decimal(seconds / 3600, 1)} h"


def listed(names: Sequence[str]) -> str:
    """Names in a row, such as "Ada, Bob and Eve"."""
    if len(names) < 2:
        return "".join(names)
    return gettext("%(names)s and %(last)s", names=", ".join(names[:-1]), last=names[-1])
