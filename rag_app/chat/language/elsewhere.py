"""Messages from outside the page: errors, notes, names of places and times.

Other packages speak English, to commands and programs too, and what they say is kept in files and
shown to several people. So a message is translated where it is shown, with what is filled in.
"""

from __future__ import annotations

from indexing.message import N_, Message
from rag_app.chat.language.current import gettext

WORDS = (
    # What took how long.
    N_("search"), N_("evidence"), N_("read"), N_("context"), N_("load"), N_("write"), N_("first"),
    N_("total"),
    # Where a date or the participants are from.
    N_("file name"), N_("folder name"), N_("first lines"), N_("file"),
    # Orders of evidence, and states of Ms-PoE.
    N_("reversed"), N_("best-first"), N_("best-last"), N_("best-within"), N_("ends"), N_("on"),
    N_("off"),
    # Stages of uploads and answers.
    N_("waiting"), N_("reading"), N_("added"), N_("updated"), N_("unchanged"), N_("duplicate"),
    N_("cancelled"), N_("failed"), N_("stopped"),
    # Formats of files, and kinds of documents without their article.
    N_("text"), N_("markdown"), N_("mail"), N_("Word document"), N_("presentation"),
    N_("spreadsheet"), N_("e-book"), N_("OpenDocument text"),
)  # fmt: skip
"""Words that are values of other packages, and no messages where they are made."""


def translated(text: str) -> str:
    """A message of another package in the language that is spoken, itself where it is unknown."""
    if not isinstance(text, Message):
        return gettext(text) if text else ""
    inner = {
        name: translated(value) if isinstance(value, Message) else value
        for name, value in text.arguments.items()
    }
    return gettext(text.template, **inner) if text else ""
