"""The sample documents say what the questions claim, as the loaders read them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from indexing.documents import Document
from tests.reading import read

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "data" / "samples"
FIRST, SECOND = (
    [json.loads(line) for line in (SAMPLES / name).read_text(encoding="utf-8").splitlines()]
    for name in ("questions.jsonl", "questions-2.jsonl")
)
QUESTIONS = [*FIRST, *SECOND]
ANSWERABLE = [each for each in QUESTIONS if each["answerable"]]
NAMES = sorted(each.name for each in SAMPLES.iterdir() if each.suffix != ".jsonl")
KINDS = {"fact", "who", "why", "when", "changed", "number", "across-documents", "unanswerable"}
KINDS |= {"list", "yes-no", "how-many", "who-said", "two-speakers", "comparison", "short-fact"}
KINDS |= {"near-miss"}
HERON = [name for name in NAMES if name.startswith("heron-")]


def collapsed(text: str) -> str:
    return " ".join(text.split())


@cache
def document(name: str) -> Document:
    found = read(SAMPLES / name)
    assert len(found) == 1, found
    assert isinstance(found[0], Document), str(found[0])
    return found[0]


def evidence(question: dict[str, Any]) -> list[tuple[dict[str, Any], Document]]:
    return [(each, document(each["path"])) for each in question["evidence"]]


def test_there_are_ten_documents_in_seven_formats() -> None:
    assert len(NAMES) >= 10
    assert len({Path(name).suffix for name in NAMES}) >= 7


def test_five_documents_are_long_and_none_is_short() -> None:
    words = {name: len(document(name).text.split()) for name in NAMES}
    assert sum(count > 4000 for count in words.values()) >= 5, words
    assert min(words.values()) >= 1500, words


def test_no_paragraph_is_repeated() -> None:
    lines = Counter(
        collapsed(line)
        for name in NAMES
        for line in document(name).text.split("\n")
        if len(line.split()) >= 12
    )
    assert [line for line, count in lines.items() if count > 1] == []


@pytest.mark.parametrize("name", HERON)
def test_a_meeting_has_its_speakers(name: str) -> None:
    speakers = {utterance.speaker for utterance in document(name).utterances}
    team = {"Maren Osei", "Tobias Lindqvist", "Priya Raman", "Callum Adeyemi", "Yusuf Hale"}
    team |= {"Greta Nowak", "Ines Duarte", "Josephine Brackendale"}
    assert len(speakers) >= 6
    assert speakers <= team


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(HERON)))
def test_what_is_no_meeting_has_no_speakers(name: str) -> None:
    assert document(name).utterances == ()


@pytest.mark.parametrize(
    "name", [each for each in HERON if each.endswith((".vtt", ".srt")) or "-6-" in each]
)
def test_timed_meetings_have_rising_time_stamps(name: str) -> None:
    times = [utterance.time for utterance in document(name).utterances]
    known = [time for time in times if time is not None]
    assert len(known) == len(times)
    assert known == sorted(known)
    assert known[-1] > 15 * 60


def test_the_questions_are_many_and_a_sixth_cannot_be_answered() -> None:
    assert (len(FIRST), len(SECOND)) == (90, 60)
    for questions, least in ((FIRST, 15), (SECOND, 15)):
        assert sum(not each["answerable"] for each in questions) >= least


def test_every_question_is_well_formed_and_asked_once() -> None:
    assert len({each["id"] for each in QUESTIONS}) == len(QUESTIONS)
    assert len({each["question"] for each in QUESTIONS}) == len(QUESTIONS)
    fields = {"id", "question", "answer", "answerable", "evidence", "kind"}
    for each in QUESTIONS:
        assert set(each) == (fields if each in FIRST else {*fields, "short"}), each["id"]
        assert each["question"].endswith("?"), each["id"]
        assert each["answer"], each["id"]
        assert bool(each["evidence"]) == each["answerable"], each["id"]
        unanswerable = each["kind"] in {"unanswerable", "near-miss"}
        assert unanswerable == (not each["answerable"]), each["id"]
    assert {each["kind"] for each in QUESTIONS} == KINDS


def test_every_document_is_asked_about() -> None:
    assert {each["path"] for one in ANSWERABLE for each in one["evidence"]} == set(NAMES)


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda each: each["id"])
def test_each_quote_stands_once_in_its_document(question: dict[str, Any]) -> None:
    for each, source in evidence(question):
        assert each["part"] == source.part
        assert collapsed(source.text).count(collapsed(each["quote"])) == 1, each["quote"]


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda each: each["id"])
def test_each_quote_is_said_by_its_speaker_in_one_turn(question: dict[str, Any]) -> None:
    for each, source in evidence(question):
        said = [
            utterance.speaker
            for utterance in source.utterances
            if collapsed(each["quote"])
            in collapsed(source.text[utterance.text_start : utterance.end])
        ]
        assert said == ([each["speaker"]] if source.utterances else []), each["quote"]
        assert source.utterances or each["speaker"] is None


def test_questions_across_documents_need_two() -> None:
    for question in QUESTIONS:
        if question["kind"] in {"across-documents", "comparison"}:
            assert len({each["path"] for each in question["evidence"]}) >= 2, question["id"]
        if question["kind"] == "two-speakers":
            assert len({each["speaker"] for each in question["evidence"]}) == 2, question["id"]


def test_short_answers_are_words_of_a_quote() -> None:
    short = [each for each in SECOND if each["short"]]
    assert len(short) >= 15
    for each in short:
        assert any(each["short"] in one["quote"] for one in each["evidence"]), each["id"]


def test_spans_of_the_meeting_in_qmsum_layout_cover_it() -> None:
    meeting = json.loads((SAMPLES / "heron-4-probes.json").read_text(encoding="utf-8"))
    spans = [each["relevant_text_span"][0] for each in meeting["topic_list"]]
    covered = [utterance for first, last in spans for utterance in range(int(first), int(last) + 1)]
    assert covered == list(range(len(meeting["meeting_transcripts"])))
    asked = [each["relevant_text_span"][0] for each in meeting["specific_query_list"]]
    assert all(span in spans for span in asked)
    lines = [f"{each['speaker']}: {each['content']}" for each in meeting["meeting_transcripts"]]
    assert document("heron-4-probes.json").text == "\n".join(lines)


def test_the_built_files_come_from_their_sources(tmp_path: Path) -> None:
    script = ROOT / "tools" / "build_samples.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, capture_output=True)
    built = sorted(each.name for each in tmp_path.iterdir())
    assert built == ["probe-supply-agreement.docx", "state-of-the-ellmere-2024.pdf"]
    for name in built:
        (again,) = read(tmp_path / name)
        assert isinstance(again, Document)
        assert again.text == document(name).text
        assert again.pages == document(name).pages
