"""What the attack on uploads calls lost or wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaign.desk import Content, content
from campaign.uploads import lost, wrong
from rag_app.corpus.corpus import Corpus


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("00", "upload-00", "upload-01"):
        (tmp_path / f"{name}.txt").write_text(f"The probe {name} fell into the lake.")
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add(sorted(tmp_path.glob("*.txt")))
    return tmp_path / "corpus"


def test_an_accepted_file_that_is_not_there_is_lost(folder: Path) -> None:
    truth = content(folder)
    accepted = ["upload-00.txt", "upload-01.txt"]
    assert lost(folder, accepted, truth, 0) is None
    assert lost(folder, accepted, truth, 99) == "the run after it ended with 99"
    with Corpus(folder) as corpus:
        corpus.remove([corpus.document("upload-01").id])
    assert lost(folder, ["upload-00.txt"], truth, 0) is None  # it was never accepted
    assert lost(folder, accepted, truth, 0) == "lost ['upload-01.txt']"
    with Corpus(folder) as corpus:
        corpus.remove([corpus.document("00").id])
    assert lost(folder, [], truth, 0) == "lost ['00.txt']"


def test_a_document_that_no_undisturbed_run_makes_is_wrong(folder: Path) -> None:
    truth: Content = content(folder)
    assert wrong(folder, truth) is None
    assert wrong(folder, {**truth, "00.txt": ("Another text.", b"")}) == "wrong ['00.txt']"
    assert wrong(folder, {name: truth[name] for name in ("00.txt",)}) == (
        "wrong ['upload-00.txt', 'upload-01.txt']"
    )
