"""Mails that a mail quotes are pages of their own sender and day, and no word is lost."""

from __future__ import annotations

import re
from email.message import EmailMessage
from pathlib import Path

import pytest

from indexing.documents import Document
from indexing.loaders.mails.mail import Mail
from indexing.loaders.mails.quoted import with_quoted
from tests.reading import read

FIELDS = """\
From: Colin Ash <colin@example.org>
Sent: 17 June 2025 09:15
To: Mal Low; Kay Poe
Subject: bats"""


def parted(body: str) -> list[tuple[str, str, str]]:
    """Sender, day and words of a mail and of those that it quotes."""
    found = with_quoted(Mail((), (), (), None, "", body))
    return [(", ".join(map(str, one.sender)), f"{one.date or ''}"[:16], one.body) for one in found]


@pytest.mark.parametrize(
    "above",
    [
        "On Tue, Jun 17, 2025 at 9:15 AM Colin Ash <colin@example.org> wrote:",
        "On 17 June 2025 at 09:15, Colin Ash <colin@example.org>\nwrote:",
        "Am 17.06.2025 um 09:15 schrieb Colin Ash <colin@example.org>:",
        "Le 17 June 2025, 09:15, Colin Ash <colin@example.org> a écrit :",
    ],
)
def test_what_stands_above_marked_lines_tells_whose_they_are(above: str) -> None:
    body = f"We start on 4 August.\n\n{above}\n\n> Can you start\n> on 21 July?\n>\n> Colin"
    own, quoted = parted(body)
    assert own == ("", "", "We start on 4 August.")
    assert quoted == (
        "Colin Ash <colin@example.org>",
        "2025-06-17 09:15",
        "Can you start\non 21 July?\n\nColin",
    )


@pytest.mark.parametrize("mark", ["", "> "])
@pytest.mark.parametrize("marked", ["", "> "])
def test_heads_within_heads(mark: str, marked: str) -> None:
    inner = FIELDS.replace("Colin Ash <colin@example.org>", "Kay Poe").replace("17", "16")
    lines = [f"{mark}{line}" for line in f"{FIELDS}\n".split("\n")]
    lines += [f"{mark}{marked}{line}" for line in ("Seven bats.", "", *inner.split("\n"))]
    lines += [f"{mark}{marked}{marked}{line}" for line in ("", "Seven or eight?")]
    found = parted("\n".join(["Thanks.", "", *lines]))
    assert [sender for sender, _, _ in found] == ["", "Colin Ash <colin@example.org>", "Kay Poe"]
    assert [day for _, day, _ in found] == ["", "2025-06-17 09:15", "2025-06-16 09:15"]
    assert [words for _, _, words in found] == ["Thanks.", "Seven bats.", "Seven or eight?"]


def test_answers_between_the_lines_stay_where_they_are() -> None:
    body = "On 17 June 2025, Colin Ash wrote:\n> The 21st?\n\nNo.\n\n> The price?\n\n43,190."
    assert parted(body) == [("", "", body)]


def test_an_answer_below_what_it_quotes_is_the_mails_own() -> None:
    body = "On 17 June 2025, Colin Ash wrote:\n> The 21st?\n\nNo, the 4th."
    assert parted(body) == [
        ("", "", "No, the 4th."),
        ("Colin Ash", "2025-06-17 00:00", "The 21st?"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "From: here on it is downhill.\nTo: everybody\n\nwords",
        "> marked\n> by nobody",
        "On Monday she wrote:\n> a poem",
        "On 17 June 2025 he wrote:\nnothing marked",
        f"{FIELDS}\n\n" * 101,
        "",
    ],
)
def test_what_tells_no_sender_and_day_stays_whole(body: str) -> None:
    assert parted(body) == [("", "", body)]


@pytest.mark.parametrize("piece", [" \n", "> x\n", "From: a\n", "On wrote ", f"{FIELDS}\n\n> "])
def test_no_word_is_lost_and_large_ones_are_read(piece: str) -> None:
    body = piece * (200_000 // len(piece))
    kept = " ".join(words for _, _, words in parted(body))
    assert re.findall(r"\w+", kept) == re.findall(r"\w+", body)


def test_a_quoted_mail_is_a_page_with_its_head(tmp_path: Path) -> None:
    made = EmailMessage()
    made["From"], made["Subject"] = "Mal <mal@example.org>", "RE: bats"
    made["Date"] = "Thu, 19 Jun 2025 18:42:00 +0100"
    made.set_content(f"We start on 4 August.\n\n{FIELDS}\n\nCan you start on 21 July?\n")
    (tmp_path / "a.eml").write_bytes(made.as_bytes())
    (found,) = read(tmp_path / "a.eml")
    assert isinstance(found, Document)
    assert [page.place for page in found.pages] == [
        "mail from Mal, 19 June 2025",
        "mail from Colin Ash, 17 June 2025",
    ]
    assert found.place_at(found.text.index("21 July")) == found.pages[1].place
    assert found.text[found.pages[1].start :] == (
        "From: Colin Ash <colin@example.org>\nTo: Mal Low, Kay Poe\n"
        "Date: Tuesday, 17 June 2025, 09:15\nSubject: bats\n\nCan you start on 21 July?"
    )
