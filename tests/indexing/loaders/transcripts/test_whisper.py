"""JSON as Whisper, WhisperX and whisper.cpp write it, and as a broken or hostile file has it."""

from __future__ import annotations

import json
from pathlib import Path

from indexing.documents import Document
from tests.reading import read

X = {
    "segments": [
        {
            "start": 0.031, "end": 2.5, "text": " Good morning, everybody.",
            "speaker": "SPEAKER_00",
            "words": [
                {"word": "Good", "start": 0.03, "end": 0.3, "score": 0.9, "speaker": "SPEAKER_00"},
                {"word": "morning,", "start": 0.35, "end": 0.9, "score": 0.8},
                {"word": "everybody."},
            ],
        },
        {"start": 2.6, "end": 4.0, "text": " Shall we start?", "speaker": "SPEAKER_00"},
        {
            "start": 3.2, "end": 4.5, "text": " Yes, at 9.",
            "words": [
                {"word": "Yes,", "start": 3.2, "end": 3.5, "score": 0.9, "speaker": "SPEAKER_01"},
                {"word": "at", "start": 3.6, "end": 3.7, "score": 0.9, "speaker": "SPEAKER_01"},
                {"word": "9.", "speaker": "SPEAKER_00"},
            ],
        },
        {"start": 61.25, "end": 62.0, "text": " Thank you.", "speaker": "SPEAKER_00"},
        {"start": 62.0, "end": 63.0, "text": " Thank you.", "speaker": "SPEAKER_01"},
    ],
    "word_segments": [{"word": "Good", "start": 0.031, "end": 0.3, "score": 0.91}],
    "language": "en",
}  # fmt: skip


def load(folder: Path, value: object, name: str = "2026-03-14_standup.json") -> Document:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    (document,) = read(path)
    assert isinstance(document, Document), document
    return document


def said(document: Document) -> list[tuple[str | None, float | None, str]]:
    return [
        (one.speaker, one.time, document.text[one.text_start : one.end])
        for one in document.utterances
    ]


def test_whisperx(tmp_path: Path) -> None:
    """Segments of one voice are one utterance; who says most of its words speaks a segment."""
    document = load(tmp_path, X)
    assert said(document) == [
        ("SPEAKER_00", 0.031, "Good morning, everybody. Shall we start?"),
        ("SPEAKER_01", 3.2, "Yes, at 9."),
        ("SPEAKER_00", 61.25, "Thank you."),
        ("SPEAKER_01", 62.0, "Thank you."),
    ]
    assert document.text.startswith("SPEAKER_00: Good morning")
    assert (document.format, document.occasion.day) == ("whisper", "2026-03-14")


def test_whisper(tmp_path: Path) -> None:
    """OpenAI's own has no speakers: each sentence is an utterance of nobody, with its time."""
    segments = [
        {"id": 0, "seek": 0, "start": 0.0, "end": 4.0, "text": " The mast fell", "tokens": [50364],
         "temperature": 0.0, "avg_logprob": -0.3, "compression_ratio": 1.1, "no_speech_prob": 0.01},
        {"id": 1, "seek": 0, "start": 4.0, "end": 6.0, "text": " last night.", "tokens": [],
         "words": [{"word": " last", "start": 4.0, "end": 4.4, "probability": 0.9}]},
        {"id": 2, "seek": 0, "start": 6.0, "end": 8.0, "text": " It was old."},
    ]  # fmt: skip
    document = load(tmp_path, {"text": " The mast fell", "segments": segments, "language": "en"})
    assert said(document) == [
        (None, 0.0, "The mast fell last night."),
        (None, 6.0, "It was old."),
    ]


def test_whisper_cpp(tmp_path: Path) -> None:
    lines = [
        {"timestamps": {"from": "00:00:00,000", "to": "00:00:03,500"},
         "offsets": {"from": 0, "to": 3500}, "text": " The mast fell."},
        {"timestamps": {"from": "00:00:03,500", "to": "00:00:05,000"},
         "offsets": {"from": 3500, "to": 5000}, "text": " It was old."},
    ]  # fmt: skip
    whole = {"systeminfo": "AVX = 1", "model": {"type": "base"}, "transcription": lines}
    assert said(load(tmp_path, whole)) == [
        (None, 0.0, "The mast fell."),
        (None, 3.5, "It was old."),
    ]


def test_times_that_are_none(tmp_path: Path) -> None:
    """Text, NaN, negative and impossible ones; the time before stands in for them."""
    odd = [float("nan"), float("inf"), -1, True, "3.5", None, 10**400, [], 1e300]
    segments: list[dict[str, object]] = [
        {"start": at, "text": f"Word {number}.", "speaker": f"S{number}"}
        for number, at in enumerate(odd)
    ]
    first: dict[str, object] = {"start": 5, "end": 7, "text": "One.", "speaker": "A\nB: "}
    document = load(tmp_path, {"segments": [first, *segments]})
    assert [time for _, time, _ in said(document)] == [5.0] + [7.0] * len(odd)
    assert document.utterances[0].speaker == "A B:"
    assert all(time is None for _, time, _ in said(load(tmp_path, {"segments": segments})))


def test_words_without_a_text_are_read(tmp_path: Path) -> None:
    words = [{"word": "One"}, {"word": 2}, 3, {"word": "three."}]
    document = load(tmp_path, {"segments": [{"words": words, "speaker": 7}]})
    assert said(document) == [(None, None, "One three.")]
