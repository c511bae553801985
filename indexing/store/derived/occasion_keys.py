"""When documents are of and who takes part in them, as keys of an index.

Derived from the facts of documents, for each collection that holds them, by triggers in the
transaction of a change.
"""

from __future__ import annotations

import json

_FACT = "(SELECT value FROM facts WHERE document = {0}.document AND name = '{1}')"


def _keys(row: str, changed: str = "", value: str = "") -> str:
    """The keys of a row's document, as rows of `value`; with another value of a fact that changed.

    Args:
        row: A table with a column `document`, or NEW or OLD.
        changed: The name of the fact; "" for none.
        value: What it was.
    """
    facts = [_FACT.format(row, name) for name in ("occasion", "listed")]
    if changed:
        names = ("occasion", "listed")
        facts = [f"iif({changed} = '{n}', {value}, {f})" for n, f in zip(names, facts, strict=True)]
    return f"json_each(occasion_keys({', '.join(facts)}))"


OCCASIONS_NOW = f"SELECT collection, value, document FROM memberships, {_keys('memberships')}"  # noqa: S608
"""What the table holds."""

_ADDED = (
    "INSERT OR IGNORE INTO occasions"  # noqa: S608
    f" SELECT NEW.collection, value, NEW.document FROM {_keys('NEW')};"
)
_DROPPED = (
    "DELETE FROM occasions WHERE collection = OLD.collection AND document = OLD.document"  # noqa: S608
    f" AND key IN (SELECT value FROM {_keys('OLD')});"
)


def _changed(row: str, value: str) -> str:
    """What a fact leads to that is new or gone; in its place there was a value."""
    return (
        f" WHEN {row}.name IN ('occasion', 'listed') BEGIN"  # noqa: S608
        f" DELETE FROM occasions WHERE document = {row}.document AND collection IN"
        f" (SELECT collection FROM memberships WHERE document = {row}.document)"
        f" AND key IN (SELECT value FROM {_keys(row, f'{row}.name', value)});"
        f" INSERT OR IGNORE INTO occasions SELECT collection, value, document"
        f" FROM memberships, {_keys('memberships')} WHERE document = {row}.document; END"
    )


OCCASION_TRIGGERS = (
    f"CREATE TEMP TRIGGER occasion_added AFTER INSERT ON memberships BEGIN {_ADDED} END",
    f"CREATE TEMP TRIGGER occasion_dropped AFTER DELETE ON memberships BEGIN {_DROPPED} END",
    f"CREATE TEMP TRIGGER occasion_noted AFTER INSERT ON facts{_changed('NEW', 'NULL')}",
    f"CREATE TEMP TRIGGER occasion_forgotten AFTER DELETE ON facts{_changed('OLD', 'OLD.value')}",
)
"""For a connection to a database of the present format: they keep the table as it is to be."""


def occasion_keys(occasion: str | None, listed: str | None) -> str:
    """The keys of a document from the JSON of its facts, each once, as JSON.

    Each is a letter and: "d" its day, "" where that is not known; "s" the same of a document in
    which somebody speaks; "p" the name of somebody who takes part or speaks in it. Facts that are
    damaged have none.
    """
    try:
        said = json.loads(occasion or "{}")
        speakers = json.loads(listed or "[[]]")[-1]
        day = said.get("date", "")[:10]
        people = {f"p{name}" for name in (*said.get("participants", ()), *speakers)}
    except (ValueError, TypeError, AttributeError, LookupError):
        return "[]"
    return json.dumps(sorted(people | {f"d{day}"} | ({f"s{day}"} if speakers else set())))
