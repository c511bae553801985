"""QMSum is read as it stands, and LongEmbed's task is rebuilt from it to the character."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexing.errors import UnreadableFile
from rag_app.batch.qmsum import meetings
from rag_app.laboratory.evaluation.longembed import qmsum_task


def write(path: Path, *sources: dict[str, object]) -> Path:
    text = "\n".join(json.dumps(one, ensure_ascii=False) for one in sources)
    path.write_text(text, "utf-8")
    return path


def meeting(name: str, utterances: list[tuple[str, str]], **queries: object) -> dict[str, object]:
    transcript = [{"speaker": who, "content": text} for who, text in utterances]
    return {"id": name, "meeting_transcripts": transcript, **queries}


FIRST = meeting(
    "m1",
    [("PhD A", " Okay , so {vocalsound} "), ("PhD A", "caf\u00e9\u2014yes"), ("Prof", "")],
    general_query_list=[{"query": "Summarize the meeting", "answer": "They talked."}],
    specific_query_list=[
        {"query": "Who?", "answer": "PhD A did.", "relevant_text_span": [["1", "2"], ["0", "0"]]},
        {"query": "Who again?", "answer": "They talked.", "relevant_text_span": [["1", "9"]]},
    ],
)
SECOND = meeting(
    "m2",
    [("Chair", "Thank you.")],
    general_query_list=[{"query": "Summarize", "answer": "They talked."}],
    specific_query_list=[{"query": "Why?", "answer": "they talked.", "relevant_text_span": []}],
)


def test_documents_are_speaker_and_content_line_by_line(tmp_path: Path) -> None:
    sources = meetings(write(tmp_path / "both.jsonl", FIRST, SECOND))
    assert [one.document.text for one in sources] == [
        "PhD A:  Okay , so {vocalsound} \nPhD A: caf\u00e9\u2014yes\nProf: ",
        "Chair: Thank you.",
    ]


def test_queries_are_answers_each_text_once_and_the_first_meeting_is_right(tmp_path: Path) -> None:
    task = qmsum_task(meetings(write(tmp_path / "both.jsonl", FIRST, SECOND)))
    pairs = [(query.text, query.gold) for query in task.queries]
    assert pairs == [("They talked.", 0), ("PhD A did.", 0), ("they talked.", 1)]
    assert task.statistics == {
        "documents": 2,
        "queries": 3,
        "document_characters": (31 + 1 + 15 + 1 + 6) + 17,
        "query_characters": 12 + 10 + 12,
    }


def test_gold_turns_are_inclusive_and_end_with_the_meeting(tmp_path: Path) -> None:
    (first, _) = meetings(write(tmp_path / "both.jsonl", FIRST, SECOND))
    assert [question.utterances for question in first.specific] == [(0, 1, 2), (1, 2)]
    assert first.general[0].utterances == ()


def test_a_folder_holds_each_meeting_once(tmp_path: Path) -> None:
    write(tmp_path / "both.jsonl", FIRST, SECOND)
    write(tmp_path / "single.json", FIRST)
    (tmp_path / "README.md").write_text("not a meeting")
    (tmp_path / "settings.json").write_text('{"a": 1}')
    sources = meetings(tmp_path)
    assert sorted(one.document.part for one in sources) == ["m1", "m2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ('{"a": 1}', "meeting_transcripts"),
        (json.dumps({**FIRST, "general_query_list": 3}), "general_query_list"),
        (json.dumps({**FIRST, "general_query_list": [3]}), "`query` and `answer`"),
        (
            json.dumps(
                {
                    **FIRST,
                    "specific_query_list": [
                        {"query": "a", "answer": "b", "relevant_text_span": [["one", "2"]]}
                    ],
                }
            ),
            "relevant_text_span",
        ),
    ],
)
def test_damaged_data_is_refused_and_says_why(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(UnreadableFile, match=message):
        meetings(tmp_path / "bad.json")


def test_one_damaged_line_refuses_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "both.jsonl", FIRST, SECOND)
    path.write_text(path.read_text("utf-8") + "\n{broken")
    with pytest.raises(UnreadableFile, match="line 3"):
        meetings(path)


def test_a_missing_path_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"nowhere\.jsonl"):
        meetings(tmp_path / "nowhere.jsonl")
