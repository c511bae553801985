"""The measurement of topics: what the reference is, and that a report holds every method."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexing.errors import UnreadableFile
from rag_app.batch.qmsum import meetings
from rag_app.cli.main import main
from rag_app.laboratory.evaluation.segmentation import topics
from tests.rag_app.laboratory.evaluation.evaluation_meetings import meeting


def topic(title: str, *spans: tuple[int, int]) -> dict[str, object]:
    return {"topic": title, "relevant_text_span": [[str(a), str(b)] for a, b in spans]}


@pytest.fixture
def marked(tmp_path: Path) -> Path:
    path = tmp_path / "marked.jsonl"
    first = meeting("first", topic_list=[topic("a", (0, 9)), topic("b", (10, 19))])
    second = meeting("second", topic_list=[topic("a", (2, 4), (9, 11)), topic("b", (5, 8))])
    path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n", "utf-8")
    return path


def test_short_runs_without_a_topic_belong_to_the_one_before(marked: Path) -> None:
    """Two at the start go to the topic after, eight at the end to that before."""
    first, second = (topics.reference(each).tolist() for each in meetings(marked))
    assert first == [0] * 10 + [1] * 10
    assert second == [0] * 5 + [1] * 4 + [0] * 11


def test_a_long_run_without_a_topic_is_a_segment(tmp_path: Path) -> None:
    path = tmp_path / "gap.json"
    path.write_text(json.dumps(meeting("gap", topic_list=[topic("a", (0, 3)), topic("b", (2, 5))])))
    (one,) = meetings(path)
    labels = topics.reference(one).tolist()
    assert labels[:6] == [0, 0, 1, 1, 1, 1]
    assert len(set(labels[6:])) == 1 and labels[6] not in (0, 1)


def test_even_and_random_cuts() -> None:
    assert topics.even(6, 3).tolist() == [0, 0, 1, 1, 2, 2]
    drawn = topics.random(40, seed=1, segments=5)
    assert sorted(set(drawn.tolist())) == [0, 1, 2, 3, 4]
    assert drawn.tolist() == sorted(drawn.tolist())


def test_the_second_meeting_is_measured_by_every_method(marked: Path, tmp_path: Path) -> None:
    """No cut: of ten windows of three (mean segment 20/3), six hold a border at 5 or 9."""
    words = ["evaluate", "topics", "--data", str(marked), "--corpus", str(tmp_path / "c"), "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["meetings"], report["segments"]) == (1, 3)
    assert set(report["methods"]) >= {"overview", "even", "random", "none"}
    none = report["methods"]["none"]
    assert none["pk"] == none["window_diff"] == pytest.approx(6 / 17, abs=1e-4)
    assert none["segments"] == 1


def test_data_without_topics_is_refused(meetings_file: Path) -> None:
    with pytest.raises(UnreadableFile, match="marks topics"):
        topics.evaluate(meetings_file)
