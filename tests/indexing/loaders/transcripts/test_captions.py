"""Captions: voices, labels, repetitions, and where an utterance ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.documents import Document, Extract
from indexing.loaders.charset import clean
from indexing.loaders.transcripts.captions import Cue, transcript
from tests.reading import read


def said(extract: Extract | Document) -> list[tuple[str | None, float | None, str]]:
    return [
        (utterance.speaker, utterance.time, extract.text[utterance.text_start : utterance.end])
        for utterance in extract.utterances
    ]


def loaded(tmp_path: Path, name: str, text: str) -> Document:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    (found,) = read(path)
    assert isinstance(found, Document), found
    return found


def test_voices_of_webvtt(tmp_path: Path) -> None:
    text = """WEBVTT - weekly

STYLE
::cue { color: red }

NOTE nobody says this

intro
00:01.500 --> 00:03.000 align:start
<v.loud Alice Müller>We should <i>cut</i> &amp; <c.red>paste</c></v>

00:03.000 --> 00:04.000
<v Alice Müller>the budget.</v>

00:05.000 --> 00:07.000
<v Bob>Why?</v>
<v Alice Müller>Because<00:06.000> it rains.
"""
    found = loaded(tmp_path, "a.vtt", text)
    assert said(found) == [
        ("Alice Müller", 1.5, "We should cut & paste the budget."),
        ("Bob", 5.0, "Why?"),
        ("Alice Müller", 5.0, "Because it rains."),
    ]
    assert found.text.split("\n")[1] == "Bob: Why?"


@pytest.mark.parametrize("start", ["\ufeffAnn: ", "&#xFEFF;\ufeff Ann: ", "<v \ufeffAnn>"])
def test_a_byte_order_mark_before_the_first_words_is_no_text(tmp_path: Path, start: str) -> None:
    bob = "<v Bob>Why?" if start.startswith("<v") else "Bob: Why?"
    cues = f"00:00.000 --> 00:01.000\n{start}It fell.\n\n00:01.000 --> 00:02.000\n{bob}\n"
    found = loaded(tmp_path, "a.vtt", f"WEBVTT\n\n{cues}")
    assert clean(found.text) == found.text == "Ann: It fell.\nBob: Why?"


def test_labels_inside_of_subrip(tmp_path: Path) -> None:
    text = """1
00:00:01,000 --> 00:00:02,000
{\\an8}<b>ALICE</b>: We should cut

2
00:00:02,000 --> 00:00:03,500
the budget.

3
01:00:03,250 --> 01:00:05,000
BOB: Why?
ALICE: It rains.
"""
    assert said(loaded(tmp_path, "a.srt", text)) == [
        ("ALICE", 1.0, "We should cut the budget."),
        ("BOB", 3603.25, "Why?"),
        ("ALICE", 3603.25, "It rains."),
    ]


def test_times_before_the_beginning_are_the_beginning(tmp_path: Path) -> None:
    times = (("-00:00:01,000", "00:00:02,000"), ("-00:01:01,500", "-00:00:01,500"))
    cues = "\n".join(
        f"{number}\n{start} --> {end}\nAnn: Word {number}.\n"
        for number, (start, end) in enumerate((*times, ("00:00:03,000", "00:00:04,000")))
    )
    found = said(loaded(tmp_path, "a.srt", cues))
    assert found == [("Ann", 0.0, "Word 0. Word 1. Word 2.")]
    assert said(loaded(tmp_path, "a.vtt", "WEBVTT\n\n" + cues.replace(",", "."))) == found


def test_the_same_voice_after_a_long_silence_has_a_time_of_its_own() -> None:
    cues = [Cue(at, at + 2, (f"At {at}.",), "Ann") for at in (0, 50, 500)]
    assert said(transcript(cues, title="t")) == [
        ("Ann", 0, "At 0. At 50."),
        ("Ann", 500, "At 500."),
    ]


def test_words_of_nobody_are_lines_of_sentences() -> None:
    cues = [
        Cue(0, 1, ("The answer",)),
        Cue(1, 2, ("is this: forty-two.",)),
        Cue(2, 3, ("Note: it may change.",)),
    ]
    extract = transcript(cues, title="t")
    assert extract.text == "The answer is this: forty-two.\nNote: it may change."
    assert [utterance.time for utterance in extract.utterances] == [0, 2]
    assert {utterance.speaker for utterance in extract.utterances} == {None}


def test_rolling_captions_are_said_once() -> None:
    cues = [
        Cue(0.0, 2.0, ("we should cut",)),
        Cue(2.0, 2.01, ("we should cut",)),
        Cue(2.01, 4.0, ("we should cut", "the whole budget")),
        Cue(4.0, 4.01, ("the whole budget",)),
        Cue(4.01, 6.0, ("the whole budget", "this year")),
    ]
    assert transcript(cues, title="t").text == "we should cut the whole budget this year"


def test_growing_and_doubled_captions_are_said_once() -> None:
    cues = [
        Cue(0, 1, ("we should",)),
        Cue(1, 2, ("we should cut",)),
        Cue(2, 3, ("we should cut it.",)),
        Cue(2, 3, ("we should cut it.",)),
    ]
    assert transcript(cues, title="t").text == "we should cut it."


def test_what_is_said_again_after_a_pause_stays() -> None:
    cues = [Cue(0, 1, ("No.",), "A"), Cue(3, 4, ("No.",), "A"), Cue(4, 5, ("No.",), "B")]
    assert transcript(cues, title="t").text == "A: No. No.\nB: No."


def test_a_long_speech_keeps_its_times_near() -> None:
    cues = [Cue(n * 10, n * 10 + 9, (f"{n} " + "word " * 23 + "end.",), "A") for n in range(24)]
    extract = transcript(cues, title="t")
    words = extract.text.replace("A: ", "").split()
    assert words == [word for cue in cues for word in cue.lines[0].split()]
    assert [utterance.time for utterance in extract.utterances] == [0, 60, 120, 180]


def test_cues_are_put_in_order_of_time() -> None:
    cues = [Cue(5, 6, ("two",), "B"), Cue(1, 2, ("one",), "A")]
    assert transcript(cues, title="t").text == "A: one\nB: two"


def test_the_date_behind_webvtt(tmp_path: Path) -> None:
    """It goes before that of the file's name."""
    text = "WEBVTT - Weekly, 17 November 2025\n\n00:01.000 --> 00:02.000\nWords.\n"
    document = loaded(tmp_path, "2025-11-18 checked.vtt", text)
    assert (document.occasion.date, document.occasion.date_source) == (
        "2025-11-17",
        "title of the captions",
    )
