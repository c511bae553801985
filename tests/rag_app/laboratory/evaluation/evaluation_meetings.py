"""Meetings in QMSum's layout whose passages are known beforehand."""

from __future__ import annotations

TURNS = 20
WORDS = 120  # an utterance of 120 words is a passage of its own


def turn_words(meeting: str, utterance: int) -> list[str]:
    """Words that occur in this utterance and nowhere else."""
    return [f"{meeting}{utterance}word{number}" for number in range(WORDS)]


def meeting(name: str, **queries: object) -> dict[str, object]:
    transcript = [
        {"speaker": "AB"[utterance % 2], "content": " ".join(turn_words(name, utterance))}
        for utterance in range(TURNS)
    ]
    return {"id": name, "meeting_transcripts": transcript, **queries}


def query(text: str, answer: str, *spans: tuple[int, int]) -> dict[str, object]:
    fields: dict[str, object] = {"query": text, "answer": answer}
    if spans:
        fields["relevant_text_span"] = [[str(first), str(last)] for first, last in spans]
    return fields
