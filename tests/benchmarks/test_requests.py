"""How often questions are read as something else."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.requests import measure


def test_questions_that_are_no_questions_are_counted(tmp_path: Path) -> None:
    meetings = [
        {
            "id": name,
            "specific_query_list": [
                {"query": "Why was it moved?"},
                {"query": f"Who was at {name}?"},
            ],
            "general_query_list": [{"query": "Summarize the whole meeting."}],
        }
        for name in ("meeting-1", "meeting-2")
    ]
    file = tmp_path / "meetings.jsonl"
    file.write_text("\n".join(map(json.dumps, meetings)), "utf-8")
    questions, requests = measure(file)
    assert (questions.asked, questions.kinds) == (4, {"question": 2, "speakers": 2})
    assert {question for question, _ in questions.examples} == {
        "Who was at meeting-1?",
        "Who was at meeting-2?",
    }
    assert (requests.asked, requests.kinds) == (2, {"summary": 2})
