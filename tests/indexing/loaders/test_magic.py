"""JSON that is no meeting: skipped in a folder, an error when named, an error when broken."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.index_report import IndexReport
from indexing.indexer import Indexer
from indexing.store.store import Store
from indexing.walk import Failure
from tests.reading import read

MEETING = json.dumps({"meeting_transcripts": [{"speaker": "Ann", "content": "Cut the budget."}]})
OTHER = {
    "settings.json": '{"name": "package", "meeting_transcripts": 3}',
    "numbers.json": "[1, 2, 3]",
    "questions.jsonl": '{"question": "Who?"}\n\n{"question": "Why?"}\n',
}
BROKEN = {
    "cut.json": '{"name": "pack',
    "cut.jsonl": '{"question": "Who?"}\n{"question": "Wh',
    "turns.json": '{"meeting_transcripts": [{"content": "No speaker."}]}',
    "silent.json": '{"meeting_transcripts": []}',
}


def fill(folder: Path, files: dict[str, str]) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return Encoder()


@pytest.fixture
def indexer(encoder: Encoder, tmp_path: Path) -> Iterator[Indexer]:
    store = Store(tmp_path / "corpus", create=True)
    store.set_fingerprint(encoder.fingerprint)
    yield Indexer(store, lambda: encoder)
    store.close()


def failed(report: IndexReport) -> list[str]:
    return [Path(failure.path).name for failure in report.failures]


@pytest.mark.parametrize("name", [*OTHER, *BROKEN])
def test_reading_tells_another_kind_from_a_broken_file(name: str, tmp_path: Path) -> None:
    (path,) = fill(tmp_path, {name: (OTHER | BROKEN)[name]})
    (failure,) = read(path)
    assert isinstance(failure, Failure)
    assert failure.other_kind is (name in OTHER)


def test_a_folder_is_walked_past_other_kinds(indexer: Indexer, tmp_path: Path) -> None:
    fill(tmp_path / "in", {"meeting.json": MEETING, "picture.png": "", **OTHER, **BROKEN})
    report = indexer.add([tmp_path / "in"])
    assert len(report.added) == 1
    assert sorted(failed(report)) == sorted(BROKEN)
    assert report.skipped == {".json": 2, ".jsonl": 1, ".png": 1}
    again = indexer.add([tmp_path / "in"])
    assert again.unchanged == 1 and again.skipped == report.skipped


def test_a_named_file_of_another_kind_is_a_failure(indexer: Indexer, tmp_path: Path) -> None:
    others = fill(tmp_path / "in", {"meeting.json": MEETING, **OTHER})
    assert failed(indexer.add(others)) == list(OTHER)
    both = indexer.add([tmp_path / "in", tmp_path / "in" / "settings.json"])
    assert failed(both) == ["settings.json"]
    assert both.skipped == {".json": 1, ".jsonl": 1}


def test_a_folder_of_other_kinds_only_is_a_failure(indexer: Indexer, tmp_path: Path) -> None:
    fill(tmp_path / "good", {"meeting.json": MEETING})
    fill(tmp_path / "other", OTHER)
    report = indexer.add([tmp_path / "other", tmp_path / "good"])
    assert len(report.added) == 1
    (failure,) = report.failures
    assert failure.path == str(tmp_path / "other")
    assert "holds no file that can be read" in failure.reason


def test_a_meeting_that_becomes_another_kind_is_reported(indexer: Indexer, tmp_path: Path) -> None:
    (path,) = fill(tmp_path / "in", {"meeting.json": MEETING})
    assert len(indexer.add([tmp_path / "in"]).added) == 1
    path.write_text('{"name": "now something else"}', encoding="utf-8")
    assert failed(indexer.add([tmp_path / "in"])) == ["meeting.json"]
