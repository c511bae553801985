"""The languages of the page: English, and one for each folder here (gettext's messages.po)."""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

ENGLISH = "en"
CATALOGUES = {
    file.parent.name: file for file in sorted(Path(__file__).parent.glob("*/messages.po"))
}
LANGUAGES = {
    code: str(Locale.parse(code).get_language_name(code)).capitalize()
    for code in (ENGLISH, *CATALOGUES)
}
"""By code, as their speakers call them; each but English is a folder CODE with `messages.po`."""


@cache
def catalogue(code: str) -> Catalog:
    """The messages of a language, with where each is used."""
    with CATALOGUES[code].open("rb") as file:
        return read_po(file, locale=code)


@cache
def translations(code: str) -> NullTranslations:
    """What gettext looks messages up in; in English each stands for itself."""
    if code == ENGLISH:
        return NullTranslations()
    compiled = BytesIO()
    write_mo(compiled, catalogue(code))
    compiled.seek(0)
    return GNUTranslations(compiled)


def plural_rule(code: str) -> str:
    """Which plural form is for n things, as an expression that C and JavaScript read alike.

    It is one of gettext's and no other code: `translations` refuses a catalogue where it is not.
    Only division, which no language needs, would be read otherwise.
    """
    if code == ENGLISH:
        return "n != 1"
    translations(code)
    return str(catalogue(code).plural_expr)


def messages_of(code: str, *suffixes: str) -> dict[str, str | list[str]]:
    """Translations of the messages in files whose names end so, plural forms as a list."""
    if code == ENGLISH:
        return {}
    messages: dict[str, str | list[str]] = {}
    for message in catalogue(code):
        if any(file.endswith(suffixes) for file, _ in message.locations):
            translation = message.string
            one = message.id if isinstance(message.id, str) else message.id[0]
            messages[one] = (
                translation
                if isinstance(translation, str)
                else [str(form) for form in translation or ()]
            )
    return messages
