"""What is taken for a transcript in plain text, and above all what is not."""

# ruff: noqa: RUF001 - texts in other scripts

from __future__ import annotations

import pytest

from indexing.text.transcripts import find_utterances, is_name, seconds

SPOKEN = [
    ("Alice Smith", 751.0, "We should cut the budget.\nI mean it."),
    ("Bob", 755.0, "Why?"),
    ("Alice Smith", 3661.0, "Because it rains."),
]
CLOCKS = ["00:12:31", "00:12:35", "01:01:01"]


def made(line: str) -> str:
    return "".join(
        line.format(name=name, clock=clock, words=words)
        for (name, _, words), clock in zip(SPOKEN, CLOCKS, strict=True)
    )


@pytest.mark.parametrize(
    "line",
    [
        "[{clock}] {name}: {words}\n",
        "({clock}) {name}: {words}\n\n",
        "{clock} {name}: {words}\n",
        "{clock} - {name}: {words}\n",
        "[{clock} --> 01:02:03] {name}: {words}\n",
        "{name} ({clock}): {words}\n",
        "{name} [{clock}]: {words}\n\n",
        "{name}  {clock}\n{words}\n\n",
        "{name} ({clock})\n{words}\n",
        "{name}\t{clock}\n{words}\n",
        "**{name}** ({clock}): {words}\n\n",
        "**[{clock}] {name}:** {words}\n\n",
    ],
)
def test_time_stamps(line: str) -> None:
    text = "Budget meeting\nDate: 3 May\n\n" + made(line)
    found = find_utterances(text)
    assert [
        (utterance.speaker, utterance.time, text[utterance.text_start : utterance.end])
        for utterance in found
    ] == SPOKEN
    assert found[0].start == text.index("\n\n") + 2


@pytest.mark.parametrize(
    "line", ["{name}: {words}\n", "{name}: {words}\n\n", "**{name}:** {words}\n"]
)
def test_names_alone(line: str) -> None:
    text = "Meeting: Budget\nAttendees: Alice, Bob\n\n" + made(line)
    found = find_utterances(text)
    assert [
        (utterance.speaker, utterance.time, text[utterance.text_start : utterance.end])
        for utterance in found
    ] == [(name, None, words) for name, _, words in SPOKEN]


def test_a_few_turns_are_enough_with_stamps() -> None:
    text = "[00:00:05] Alice: Hello.\n[00:00:09] Bob: Hi."
    assert [(utterance.speaker, utterance.time) for utterance in find_utterances(text)] == [
        ("Alice", 5.0),
        ("Bob", 9.0),
    ]
    otter = "Alice  0:12\nHello there.\n\nBob  1:15\nHi.\n"
    assert [(utterance.speaker, utterance.time) for utterance in find_utterances(otter)] == [
        ("Alice", 12.0),
        ("Bob", 75.0),
    ]


def test_a_heading_ends_a_turn() -> None:
    text = "**Alice:** One thing.\n\n## Item 2\n\n**Bob:** Another.\n\n---\n\n**Alice:** Yes.\n"
    assert [text[utterance.text_start : utterance.end] for utterance in find_utterances(text)] == [
        "One thing.",
        "Another.",
        "Yes.",
    ]


def test_full_width_colons_and_diarisation() -> None:
    text = "田中：会議を始めます。\n鈴木：はい。\n田中：予算です。"
    assert [utterance.speaker for utterance in find_utterances(text)] == ["田中", "鈴木", "田中"]
    text = "SPEAKER_00: So it begins.\nSPEAKER_01: It does.\nSPEAKER_00: Good."
    assert [utterance.speaker for utterance in find_utterances(text)] == [
        "SPEAKER_00",
        "SPEAKER_01",
        "SPEAKER_00",
    ]


PROGRAMS = {
    "Zoom's chat": (
        "09:31:12 From Ada Park to Everyone : Hi all\n"
        "09:31:40 From  Bob Stone  to  Ada Park(Direct Message) : psst: look\n",
        [("Ada Park", 34272.0, "Hi all"), ("Bob Stone", 34300.0, "psst: look")],
    ),
    "Zoom's older chat": (
        "00:12:31\t From  Ada Park : hello\n00:12:40\t From  Bob : yes\n",
        [("Ada Park", 751.0, "hello"), ("Bob", 760.0, "yes")],
    ),
    "Zoom's newer chat": (
        "09:31:12 From Ada Park to Everyone:\n\tHello all\n\tand more\n"
        '09:31:40 From Bob to Everyone:\n\tReplying to "Hello all"\n\t\n\tI agree\n',
        [
            ("Ada Park", 34272.0, "Hello all\n\tand more"),
            ("Bob", 34300.0, 'Replying to "Hello all"\n\t\n\tI agree'),
        ],
    ),
    "Zoom's chat of the cloud": (
        "00:58:04\tAlex:\tDepends on it.\n00:58:20\tWheezy:\tDid you check?\n",
        [("Alex", 3484.0, "Depends on it."), ("Wheezy", 3500.0, "Did you check?")],
    ),
    "Google Meet": (
        "Sync (2026-03-14 09:30 GMT) - Transcript\n\nAttendees\n\nAda Park, Bob Stone\n\n"
        "Transcript\n\n00:00:00\n\nAda Park: Okay, so we start.\n\nBob Stone: Fine.\n\n00:05:00\n\n"
        "Ada Park: Next point.\n\nBob Stone: I see it.\n\n"
        "Meeting ended after 00:07:19 \U0001f44b\n\n"
        "This editable transcript was computer generated and might contain errors.\n",
        [
            ("Ada Park", 0.0, "Okay, so we start."),
            ("Bob Stone", 0.0, "Fine."),
            ("Ada Park", 300.0, "Next point."),
            ("Bob Stone", 300.0, "I see it."),
        ],
    ),
    "Otter": (
        "Note\nFri, Mar 14, 2026 9:30AM \u2022 45:12\n\nSUMMARY KEYWORDS\nbudget, lamp\n\n"
        "SPEAKERS\nAda Park, Bob\n\nAda Park  0:00  \nHello everyone.\n\nBob  0:12  \nHi.\n\n"
        "Transcribed by https://otter.ai\n",
        [("Ada Park", 0.0, "Hello everyone."), ("Bob", 12.0, "Hi.")],
    ),
    "Otter without names": (
        "0:01  \nWhen I was a kid.\n\n0:15  \nIt was bad.\n\nTranscribed by https://otter.ai\n",
        [(None, 1.0, "When I was a kid."), (None, 15.0, "It was bad.")],
    ),
    "Teams": (
        "Sync-20260314_093000-Meeting Recording\n\nMarch 14, 2026, 9:30AM\n\n30m 12s\n\n"
        "Cem Aydin started transcription\n\nAda Park   0:03\nHello all.\nAnd more.\n\n"
        "Bob   0:12\nYes.\n\nAda Park   1:02:03\nBye.\n\nCem Aydin stopped transcription",
        [
            ("Ada Park", 3.0, "Hello all.\nAnd more."),
            ("Bob", 12.0, "Yes."),
            ("Ada Park", 3723.0, "Bye."),
        ],
    ),
    "Teams, in paragraphs": (
        "March 14, 2026, 9:30AM\n\n30m 12s\n\nCem Aydin started transcription\n\n"
        "Ada Park 0:03\n\nHello all.\n\nBob 0:12\n\nYes.\n\nAda Park 0:15\n\nBye.\n",
        [("Ada Park", 3.0, "Hello all."), ("Bob", 12.0, "Yes."), ("Ada Park", 15.0, "Bye.")],
    ),
    "Teams at first": (
        "0:0:5.100 --> 0:0:8.250\n田中太郎\nおはよう。\n\n"
        "0:0:10.8 --> 0:0:14.500\n鈴木花子\nはい。\n",
        [("田中太郎", 5.1, "おはよう。"), ("鈴木花子", 10.8, "はい。")],
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_programs_write_them(program: str) -> None:
    """Whose words, when, and nothing of what the program says itself."""
    text, spoken = PROGRAMS[program]
    found = [
        (one.speaker, one.time, text[one.text_start : one.end]) for one in find_utterances(text)
    ]
    assert found == spoken


NOT = {
    "times of trains": "Timetable\n10:15\nLondon\n12:30\nParis\n",
    "prose": "She had one rule: never ask.\nHe had another: always ask. And then: silence.\n" * 9,
    "prose that quotes": "The report says little.\n" * 30 + "Alice: No.\nBob: Yes.\nAlice: No.\n",
    "recipe": "Ingredients: flour, two eggs.\nStep 1: Mix the flour.\nStep 2: Add the eggs.\n"
    "Note: Do not overmix.\nStep 1: Bake it.\nNote: Let it cool.\nServes: four people.\n",
    "settings": "Host: example.com\nPort: 80\nPath: /a\nHost: example.org\nPort: 81\nPath: /b\n",
    "contract": "Section 1: The Seller sells.\nSection 2: The Buyer pays.\nSection 1: As above.\n"
    "Section 2: As above.\nClause 3: Nothing else.\nClause 3: Nothing.\n",
    "parties": "Seller: Acme Limited.\nBuyer: Bolt Limited.\nDate: 3 May.\nPlace: Bonn.\n",
    "glossary": "Budget: What may be spent.\nCafé: Where one eats.\nTerm: A word of it.\n",
    "log": "ERROR: it failed.\nINFO: it goes on.\nERROR: it failed.\nINFO: it goes on.\n",
    "timed log": "12:00:01 INFO: started.\n12:00:02 ERROR: it failed.\n12:00:03 INFO: done.\n",
    "timetable": "London 10:15\nParis 12:30\nLondon 13:00\n",
    "agenda": "09:00 Opening: welcome.\n10:00 Keynote: the future.\n12:00 Lunch: in the hall.",
    "agenda below": "Keynote 9:00\nBy Dr Bolt.\n\nLunch 12:00\nIn the hall.\n",
    "mail": "From: Alice\nTo: Bob\nSubject: The budget.\n\nDear Bob,\nFrom: Bob\nTo: Alice\n",
    "minutes": "Decision: cut it.\nAction: Bob writes.\nDecision: keep it.\nAction: Al writes.\n",
    "verses": "John 3:16 For God so loved.\nJohn 3:17 For God sent not.\nMark 1:1 The beginning.\n",
    "addresses": "See http://a.example: it is good.\nSee http://b.example: it is bad.\n",
    "records": "Alpha: 3\nBeta: 4\n\nAlpha: 5\nBeta: 6\n\nAlpha: 7\nBeta: 8\n",
    "empty": "",
    "colons": ":\n::\n: x\nx:\n",
}


@pytest.mark.parametrize("case", NOT)
def test_what_is_no_transcript(case: str) -> None:
    assert find_utterances(NOT[case]) == ()


@pytest.mark.parametrize(
    "name",
    [
        "Alice", "Dr. J. K. Smith", "THE COURT", "Ludwig van der Berg", "Project Manager", "PhD D",
        "Speaker 1", "speaker_0", "Zoë (Chair)", "O'Neil", "田中",
    ],
)  # fmt: skip
def test_names(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize(
    "name",
    ["Section 1", "Next steps", "Warning", "Note", "the following", "Step II", "Clause 4.2", "42",
     "He said that they must all go home", ""],
)  # fmt: skip
def test_no_names(name: str) -> None:
    assert not is_name(name)


def test_clocks() -> None:
    assert [seconds(clock) for clock in ("0:12", "12:31", "1:02:03", "00:00:01,500")] == [
        12.0, 751.0, 3723.0, 1.5,
    ]  # fmt: skip


def test_rows_of_a_table_are_nobodys_words() -> None:
    rows = [
        f"Variant: {name} of the model | Layers: 12 | Loss: 1.5"
        for name in ("Full", "Half", "Third")
    ]
    stops = [f"Stop: {name} by the lake | First train: early" for name in ("High Tor", "Ash Mill")]
    text = "\n\n".join(("Scores of each variant.", *rows, *stops, "The last train is a bus."))
    assert find_utterances(text) == ()
