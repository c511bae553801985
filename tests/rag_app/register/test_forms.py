"""The register as files: read back by other programs, the same twice, and harmless."""

from __future__ import annotations

import csv
import io
import re
from datetime import date
from typing import Any

import pytest
from icalendar import Calendar

from generator.register.entry import Register
from generator.register.register import register
from indexing.documents import Document
from rag_app.register.forms import FORMS, as_csv, as_icalendar, as_markdown
from tests.generator.register.meetings import meeting

LETTER = "Action: Maren to write the letter to Ellmere by 20 January."
FIRST = meeting("2026-01-12", LETTER, "It was agreed to put tiles on the shed.")
THEN = meeting("2026-02-09", "Action: Ada to write the letter to Ellmere by 20 February.")
DONE = meeting("2026-03-09", "Ada has written the letter to Ellmere.")
DROPPED = meeting("2026-03-09", "The letter to Ellmere is no longer needed.")
HOSTILE = meeting(
    "2026-01-12",
    "Action: Ada to write BEGIN:VEVENT\r\nUID:evil by Friday",
    "Action: Ada to send <script>alert(1)</script> and [click](http://evil)|`rm` by Friday",
    name="=cmd|' /C calc'!A0",
)


def rows(found: Register) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(found), newline="")))


def tasks(found: Register) -> dict[str, Any]:
    calendar = Calendar.from_ical(as_icalendar(found))
    assert calendar["version"] == "2.0" and calendar["prodid"]
    return {str(one["uid"]): one for one in calendar.walk("VTODO")}


def test_a_table_has_a_row_for_each_entry() -> None:
    found = register([FIRST, THEN])
    told = [(one, matter) for matter in found for one in matter.entries]
    for row, (entry, matter) in zip(rows(found), told, strict=True):
        assert (row["id"], row["matter"], row["kind"]) == (entry.id, matter.id, matter.kind)
        assert (row["state"], row["tells"]) == (matter.state, entry.tells)
        assert (row["who"], row["until"], row["due"]) == (entry.who, entry.until, entry.due)
        assert (row["date"], row["title"], row["quote"]) == (
            entry.day,
            entry.title,
            entry.quote.text,
        )
        assert (int(row["start"]), int(row["end"])) == (entry.quote.start, entry.quote.end)


def test_tasks_of_a_calendar_are_the_actions() -> None:
    found = register([FIRST])
    (action,) = (one for one in found if one.kind == "action")
    ((uid, task),) = tasks(found).items()
    assert uid == f"{action.id}@rag-app"
    assert task["due"].dt == date(2026, 1, 20)
    assert str(task["summary"]) == f"Maren Osei: {LETTER}"
    assert (task["status"], int(task["sequence"])) == ("NEEDS-ACTION", 0)


@pytest.mark.parametrize(
    ("last", "status", "due"),
    [(DONE, "COMPLETED", date(2026, 2, 20)), (DROPPED, "CANCELLED", date(2026, 2, 20))],
)
def test_a_second_export_updates_the_first(last: Document, status: str, due: date) -> None:
    ((uid, first),) = tasks(register([FIRST])).items()
    ((again, then),) = tasks(register([FIRST, THEN, last])).items()
    assert uid == again
    assert int(first["sequence"]) < int(then["sequence"]) == 2
    assert first["last-modified"].dt < then["last-modified"].dt
    assert (then["status"], then["due"].dt) == (status, due)
    assert str(then["summary"]).startswith("Ada Park: ")
    before = {row["id"]: row["quote"] for row in rows(register([FIRST]))}
    after = {row["id"]: row["quote"] for row in rows(register([FIRST, THEN, last]))}
    assert before.items() < after.items()


@pytest.mark.parametrize("form", FORMS)
def test_the_same_register_is_the_same_file(form: str) -> None:
    documents = [FIRST, THEN, meeting("", LETTER, name="undated")]
    texts = {FORMS[form](register(order)) for order in (documents, documents[:])}
    assert len(texts) == 1 and "Ellmere" in texts.pop().replace("\r\n ", "")


def test_hostile_text_stays_text() -> None:
    found = register([HOSTILE])
    assert len(found) == 2
    for row in rows(found):
        assert not any(cell.startswith(("=", "+", "-", "@")) for cell in row.values())
        assert row["title"] == "'=cmd|' /C calc'!A0"
    assert {one.name for one in Calendar.from_ical(as_icalendar(found)).walk()} == {
        "VCALENDAR",
        "VTODO",
    }
    assert len(tasks(found)) == 2
    listed = as_markdown(found)
    assert re.findall(r"(?<!\\)[<>\[\]|]", listed) == []
    assert all(line.startswith(("#", "- ", "    - ")) for line in listed.split("\n") if line)


def test_a_list_has_every_entry_under_its_kind() -> None:
    found = register([FIRST, THEN, DONE])
    listed = as_markdown(found)
    assert listed.index("## Decisions") < listed.index("## Actions")
    assert listed.count("    - ") == sum(len(one.entries) for one in found)
    assert "**done**, Ada Park, by 20 February (2026-02-20)" in listed


def test_nothing_is_a_file_too() -> None:
    assert rows(Register()) == [] and tasks(Register()) == {}
    assert as_markdown(Register()) == "# Register\n"
