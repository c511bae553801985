"""The register as a file: a table, a list to read, tasks of a calendar."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from generator.register.entry import Entry, Matter, Register
from indexing.documents import clock
from indexing.errors import MissingDependency
from rag_app.markdown_text import plain

if TYPE_CHECKING:
    from icalendar import Todo

_COLUMNS = (
    "id", "matter", "kind", "state", "tells", "who", "until", "due", "date", "document", "title",
    "place", "speaker", "start", "end", "quote",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet runs (OWASP, CSV injection)
_HEADINGS = {"decision": "Decisions", "action": "Actions", "question": "Open questions"}
_STATUS = {"done": "COMPLETED", "dropped": "CANCELLED"}
_LONGEST = 200  # characters of a task's title


def as_csv(register: Register) -> str:
    """A row for each entry, those of a matter below each other; no cell is a formula."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for matter in register:
        for one in matter.entries:
            values = (
                *(one.id, matter.id, matter.kind, matter.state, one.tells, one.who, one.until),
                *(one.due, one.day, one.document, one.title, _place(one), one.quote.speaker or ""),
                *(str(one.quote.start), str(one.quote.end), " ".join(one.quote.text.split())),
            )
            writer.writerow([f"'{each}" if each.startswith(_FORMULA) else each for each in values])
    return text.getvalue()


def as_markdown(register: Register) -> str:
    """A list to read, kind by kind; the text of documents is escaped, so it stays text."""
    lines: list[str] = ["# Register", ""]
    for kind, heading in _HEADINGS.items():
        matters = [one for one in register if one.kind == kind]
        lines += [f"## {heading}", ""] if matters else []
        for matter in matters:
            due = f"{matter.until} ({matter.due})" if matter.due else matter.until
            about = [f"**{matter.state}**", plain(matter.who), plain(due), f"`{matter.id}`"]
            lines.append(f"- {', '.join(filter(None, about))}")
            for one in matter.entries:
                where = ", ".join(
                    filter(None, (one.title, one.day, _place(one), one.quote.speaker))
                )
                lines.append(f"    - {one.tells}: “{plain(one.quote.text)}” ({plain(where)})")
        lines += [""] if matters else []
    return "\n".join(lines).rstrip() + "\n"


def as_icalendar(register: Register) -> str:
    """A task for each action (VTODO, RFC 5545), under the id of its matter.

    Raises:
        MissingDependency: icalendar is not installed.
    """
    try:
        from icalendar import Calendar
    except ImportError as error:
        raise MissingDependency(
            "icalendar", "a calendar of the register", 'pip install "rag-app[calendar]"'
        ) from error
    calendar = Calendar()
    calendar.add("prodid", "-//rag-app//register//EN")
    calendar.add("version", "2.0")
    for matter in register:
        if matter.kind == "action":
            calendar.add_component(_task(matter))
    return str(calendar.to_ical().decode("utf-8"))


def _task(matter: Matter) -> Todo:
    from icalendar import Todo

    stated, last = matter.stated, matter.entries[-1]
    words = " ".join(stated.quote.text.split())
    title = f"{matter.who}: {words}" if matter.who else words
    task = Todo()
    task.add("uid", f"{matter.id}@rag-app")
    task.add("summary", title if len(title) <= _LONGEST else f"{title[: _LONGEST - 1]}…")
    task.add("description", "\n".join(map(_told, matter.entries)))
    task.add("dtstamp", _moment(last.day))
    task.add("last-modified", _moment(last.day))
    task.add("sequence", len(matter.entries) - 1)
    task.add("status", _STATUS.get(matter.state, "NEEDS-ACTION"))
    if matter.state == "done":
        task.add("completed", _moment(last.day))
    if matter.due:
        task.add("due", date.fromisoformat(matter.due))
    if matter.who:
        task.add("contact", matter.who)
    return task


def _told(one: Entry) -> str:
    quote = " ".join(one.quote.text.split())
    where = ", ".join(filter(None, (one.title, one.day, _place(one), one.quote.speaker)))
    return f"{one.tells}: “{quote}” ({where})"


def _moment(day: str) -> datetime:
    """A day or a month in UTC; 1970 for none, so that two exports of the same are the same."""
    return datetime.fromisoformat(f"{day}-01"[:10] if day else "1970-01-01").replace(tzinfo=UTC)


def _place(one: Entry) -> str:
    return clock(one.quote.time) or one.quote.place or ""


FORMS: Mapping[str, Callable[[Register], str]] = {
    "csv": as_csv,
    "markdown": as_markdown,
    "ics": as_icalendar,
}
"""By name."""
