"""The languages of the page, and their catalogues of messages (gettext's .po files)."""

from __future__ import annotations

from functools import cache
from gettext import GNUTranslations, NullTranslations
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "de": "Deutsch"}
"""By code, as their speakers call them; each but English has a file CODE.po."""


@cache
def catalogue(code: str) -> Catalog:
    """The messages of a language, with where each is used."""
    with (Path(__file__).parent / f"{code}.po").open("rb") as file:
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
