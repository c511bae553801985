"""Date and participants above the first words of a transcript, and in names of files."""

from __future__ import annotations

import pytest

from indexing.documents import Occasion
from indexing.text.days.occasions import date_of_file, names_in, occasion_of
from indexing.text.transcripts import find_utterances

TALK = "\n\nAda Park: Good morning.\nBob Stone: Hello, Ada.\nAda Park: Shall we?\n"
PEOPLE = ("Ada Park", "Bob Stone", "Cem Aydin")


@pytest.mark.parametrize(
    ("head", "date", "people"),
    [
        ("Weekly\n\nMarch 14, 2026, 9:30AM\n30m 12s", "2026-03-14T09:30:00", ()),
        ("Note\nFri, Mar 14, 2026 1:02PM \u2022 45:12", "2026-03-14T13:02:00", ()),
        ("Date: 14 March 2026", "2026-03-14", ()),
        ("**Meeting date:** 2026-03-14", "2026-03-14", ()),
        ("Datum: 14.3.2026\nTeilnehmer: Ada Park, Bob Stone und Cem Aydin", "2026-03-14", PEOPLE),
        ("# Sync\n\nAttendees\nAda Park, Bob Stone, Cem Aydin", "", PEOPLE),
        ("Present: Ada Park (chair), Bob Stone <bob@x.org>; Cem Aydin", "", PEOPLE),
        (
            "Sync (2026-03-14 09:30 GMT) - Transcript\n\nAttendees\n\nAda Park, Bob Stone, "
            "Bob Stone's Presentation, Cem Aydin",
            "2026-03-14T09:30:00+00:00",
            PEOPLE,
        ),
        ("Present were some people, who left.", "", ()),
        ("The plan of 14 March 2026 is late.", "", ()),
        ("Date: to be found\nAttendees: 12", "", ()),
        ("Attendees: everybody", "", ()),
    ],
)
def test_above_the_first_words(head: str, date: str, people: tuple[str, ...]) -> None:
    text = head + TALK
    sources = ["first lines" if said else "" for said in (date, people)]
    found = occasion_of(text, find_utterances(text))
    assert found == Occasion(date, sources[0], people, sources[1])


def test_a_text_of_nobody_must_say_what_a_date_is() -> None:
    assert occasion_of("14 March 2026\n\nThe probe fell.", ()) == Occasion()
    text = "Minutes\nDate: 14 March 2026\nThe probe fell."
    assert occasion_of(text, ()).date == "2026-03-14"
    assert occasion_of("\n".join(["Words."] * 30 + ["Date: 14 March 2026"]), ()) == Occasion()


def test_what_is_said_later_is_no_head() -> None:
    text = "Ada: Date: 14 March 2026.\nBob: Yes.\nAda: Good."
    assert occasion_of(text, find_utterances(text)) == Occasion()


def test_names_of_files_and_folders() -> None:
    assert date_of_file("/a/2026-03-14_standup.vtt") == ("2026-03-14", "file name")
    zoom = "/a/2026-03-14 09.30.12 Ada's Zoom Meeting/chat.txt"
    assert date_of_file(zoom) == ("2026-03-14T09:30:12", "folder name")
    assert date_of_file("/backup 2026-03-14/chat.txt") == ("", "")


def test_names() -> None:
    assert names_in("Ada Park, Bob Stone and Cem Aydin") == PEOPLE
    assert names_in("Ada Park, and then we went home to eat some more of it") == ()
    assert names_in(", ".join(["Ada Park"] * 1000)) == ()
