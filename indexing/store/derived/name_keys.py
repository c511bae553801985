"""What a document may be called: the letters and digits of its names, as keys of an index.

Derived from the places of documents in collections, by triggers in the transaction of a change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

_WORD = re.compile(r"[^\W_]+")

NAMES_NOW = (
    "SELECT value, collection, document FROM memberships,"
    " json_each(name_keys(memberships.path, part, title))"
)
"""What the table holds."""

_ADD = "INSERT INTO names SELECT value, NEW.collection, NEW.document"
_DROP = "DELETE FROM names WHERE collection = OLD.collection AND document = OLD.document"
_KEYS = "json_each(name_keys({0}.path, {0}.part, {0}.title))"
_ADDED = f"{_ADD} FROM {_KEYS.format('NEW')};"
_DROPPED = f"{_DROP} AND key IN (SELECT value FROM {_KEYS.format('OLD')});"  # noqa: S608

NAME_TRIGGERS = (
    f"CREATE TEMP TRIGGER name_added AFTER INSERT ON memberships BEGIN {_ADDED} END",
    f"CREATE TEMP TRIGGER name_dropped AFTER DELETE ON memberships BEGIN {_DROPPED} END",
    "CREATE TEMP TRIGGER name_changed AFTER UPDATE OF collection, path, part, title ON memberships"
    f" BEGIN {_DROPPED} {_ADDED} END",
)
"""For a connection to a database of the present format: they keep the table as it is to be."""


def words_of(text: str) -> tuple[str, ...]:
    """The words and numbers of a name, in lower case."""
    return tuple(word.lower() for word in _WORD.findall(text))


def joined(text: str) -> str:
    """The letters and digits of a name: "kick-off" and "kickoff" are one."""
    return "".join(words_of(text))


def beginning(stem: str) -> tuple[str, ...]:
    """The words of a name up to its first number: "heron", "3" of "heron-3-budget"."""
    words = words_of(stem)
    number = next((at for at, word in enumerate(words) if word.isdigit()), -1)
    return words[: number + 1] if number > 0 else ()


def own_names(path: str, part: str, title: str) -> Iterator[tuple[tuple[str, ...], bool]]:
    """(words, whether it is a file's name with its suffix) of each name of a document."""
    file = PurePosixPath(path)
    if file.suffix:
        yield words_of(file.name), True
    for name in (path, file.stem, title, part):
        words = words_of(name)
        yield words, False
        if words[:1] == ("the",):
            yield words[1:], False


def name_keys(path: str, part: str, title: str) -> str:
    """The keys of a document's names, each once, as JSON.

    Each is a letter and the letters and digits of a name: "n" for a whole name, "b" for the words
    of a file's name up to its first number, "t" for a word of a title.
    """
    names = {"n" + "".join(words) for words, _ in own_names(path, part, title) if words}
    numbered = {"b" + "".join(words) for words in [beginning(PurePosixPath(path).stem)] if words}
    return json.dumps(sorted(names | numbered | {f"t{word}" for word in words_of(title)}))
