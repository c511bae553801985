"""What a corpus takes on disk, also while somebody writes to it."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

from indexing.encoder.encoder import Encoder
from rag_app.corpus.corpus import Corpus
from tests.rag_app.corpus.probes import TEXTS


def test_bytes_are_those_of_all_files(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_text("Words.", name="a")
        sizes = [file.stat().st_size for file in corpus.folder.rglob("*") if file.is_file()]
        assert corpus.info().bytes == sum(sizes) > 0


def test_folders_that_come_and_go_do_no_harm(tmp_path: Path, encoder: Encoder) -> None:
    """As an index does that is written into a folder beside the old one, and renamed."""
    corpus, done = Corpus(tmp_path / "corpus", encoder=encoder), threading.Event()
    corpus.add_text("Words.", name="a")
    drafts = [corpus.folder / ".index" / f"draft-{n}" / "deeper" for n in range(20)]

    def write() -> None:
        while not done.is_set():
            for draft in drafts:
                draft.mkdir(parents=True, exist_ok=True)
            for draft in drafts:
                shutil.rmtree(draft.parent)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(200):
            assert corpus.info().documents == 1
    finally:
        done.set()
        writer.join()
        corpus.close()


def test_info_counts(corpus: Corpus, encoder: Encoder) -> None:
    info = corpus.info()
    assert (info.documents, info.passages, info.fingerprint) == (8, 8, encoder.fingerprint)
    assert info.words == sum(len(text.split()) for text in TEXTS.values())
    assert info.snapshot == "current"
    assert info.bytes == sum(f.stat().st_size for f in corpus.folder.rglob("*") if f.is_file())
    assert info.bytes > 20_000
