"""Which language is spoken to whom, and its numbers and days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rag_app.chat.language.current import (
    COOKIE,
    Language,
    count,
    current,
    day,
    decimal,
    duration,
    gettext,
    language_of,
    listed,
    near_day,
    ngettext,
    percent,
    speak_to,
    speaking,
    usual,
)

GERMAN, SWISS = Language("de", "de"), Language("de", "de_CH")
AMERICAN = Language("en", "en_US")


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", Language()),
        ("de", GERMAN),
        ("de-CH,de;q=0.9,en;q=0.8", SWISS),
        ("fr-FR, fr;q=0.9, de;q=0.7, en;q=0.5", GERMAN),
        ("en;q=0.3,de;q=0.8", GERMAN),
        ("en-US", AMERICAN),
        ("en", Language("en", "en_GB")),
        ("fr, xx-YY, *;q=0.1, ;;;, de;q=often", Language()),
        ("../../etc/passwd, de_DE.UTF-8", Language()),
    ],
)
def test_the_first_language_of_the_browser_that_is_here(header: str, language: Language) -> None:
    assert language_of({"accept-language": header}) == language


def test_what_was_chosen_on_the_page_counts_and_keeps_the_region() -> None:
    chosen = {"accept-language": "en-US,de-AT", "cookie": f"a=b; {COOKIE}=de"}
    assert language_of(chosen) == Language("de", "de_AT")
    assert language_of({"cookie": f"{COOKIE}=de"}) == Language("de", "de")
    beside = f'other={{"a": 1}}; {COOKIE}=de'  # which is no cookie by RFC 6265
    assert language_of({"cookie": beside}) == Language("de", "de")
    for nonsense in ("xx", "../de", '"'):
        assert language_of({"cookie": f"{COOKIE}={nonsense}"}) == Language()


def test_numbers_days_and_plural_forms_are_those_of_the_language() -> None:
    with speaking(GERMAN):
        assert (count(1234), decimal(0.5, 2), percent(0.45)) == ("1.234", "0,50", "45\xa0%")
        assert (day("2026-05-03"), day("2026-05-03", month="MMMM")) == ("3. Mai 2026",) * 2
        assert day("2026-05") == "2026-05"
        assert ngettext("%(num)s page", "%(num)s pages", 1) == "1 Seite"
        assert ngettext("%(num)s page", "%(num)s pages", 1200) == "1.200 Seiten"
        assert near_day(datetime.now(UTC).isoformat()) == "heute"
        assert near_day((datetime.now(UTC) - timedelta(days=1)).isoformat()) == "gestern"
        assert listed(["Ada", "Bob", "Eve"]) == "Ada, Bob und Eve"
        assert duration(9000) == "2,5 h"
    assert (usual("de"), usual("en")) == (GERMAN, Language())
    with speaking(SWISS):
        assert count(1234) == "1’234"  # noqa: RUF001
    with speaking(AMERICAN):
        assert (count(1234), percent(0.45), day("2026-05-03")) == ("1,234", "45%", "May 3, 2026")
    assert day("2026-05-03") == "3 May 2026"
    assert (duration(40), duration(180)) == ("40 s", "3 min")


def test_a_language_is_spoken_to_one_only() -> None:
    with speaking(Language()):
        assert gettext("Close") == "Close"
        speak_to({"accept-language": "de"})
        assert gettext("Close") == "Schließen"
        assert gettext("Open %(title)s", title="100 % <b>") == "100 % <b> öffnen"
    assert current() == Language()
