"""What is read and encoded, by which encoder, and what is refused."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import EncoderMismatch
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.ingestion import Ingestion
from tests.conftest import OWN_READER


@pytest.fixture(scope="module")
def narrow() -> Encoder:
    return Encoder(EncoderSettings(dtype="float32", max_length=32))


def test_what_reads_files_ends_with_a_corpus_that_nobody_closed(
    tmp_path: Path, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Ingestion, "reader", OWN_READER)
    (tmp_path / "a.txt").write_text("A probe fell.")
    corpus = Corpus(tmp_path / "corpus", encoder=encoder)
    corpus.add([tmp_path / "a.txt"])
    process = corpus._ingestion.reader._process._process
    assert process is not None and process.poll() is None
    del corpus
    gc.collect()
    assert process.poll() is not None


def test_another_encoder_is_refused_until_asked_for(
    corpus: Corpus, narrow: Encoder, encoder: Encoder
) -> None:
    before = corpus.search("probe 3")
    with Corpus(corpus.folder, encoder=narrow) as other:
        for use in (
            lambda: other.search("probe"),
            lambda: other.add([]),
            lambda: other.add_text("More.", name="more"),
        ):
            with pytest.raises(EncoderMismatch, match=r"--reencode .*--max-length 32"):
                use()
        assert corpus.search("probe 3") == before
        assert len(other.documents()) == 8  # what needs no vectors goes on
        assert other.reencode() == 8 and other.reencode() == 0
        assert other.search("probe 3")[0].title == "probe 3"
        with pytest.raises(EncoderMismatch, match="max_length 32 here, 64 asked for"):
            corpus.search("probe")


def test_who_takes_what_is_there_follows(corpus: Corpus, narrow: Encoder) -> None:
    """A server goes on when somebody else has encoded its corpus again."""
    with Corpus(corpus.folder) as follower:
        assert follower.search("probe 3")[0].title == "probe 3"
        with Corpus(corpus.folder, encoder=narrow) as other:
            assert other.reencode() == 8
        assert follower.search("probe 3")[0].title == "probe 3"
        info = follower.info()
        assert info.fingerprint == narrow.fingerprint and info.snapshot == "current"


NOTHING_NEW = """
import sys
from rag_app.corpus.corpus import Corpus

with Corpus(sys.argv[1]) as corpus:
    assert corpus.add([sys.argv[2]]).unchanged == 1
assert not {"torch", "transformers", "sentence_transformers"} & set(sys.modules)
"""


def test_nothing_new_loads_no_model(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "a.txt").write_text("A probe fell.")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        assert corpus.add([tmp_path / "a.txt"]).added
        arguments = [sys.executable, "-c", NOTHING_NEW, str(corpus.folder), str(tmp_path / "a.txt")]
        assert subprocess.run(arguments, check=False).returncode == 0


def test_what_is_new_is_encoded_as_the_rest(corpus: Corpus, encoder: Encoder) -> None:
    with Corpus(corpus.folder) as follower:
        assert follower.add_text("A ninth probe.", name="probe 8").added
        assert follower.info().fingerprint == encoder.fingerprint


def test_names_that_lead_nowhere_make_no_corpus(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_text("x")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        report = corpus.add([tmp_path / "nope.txt", tmp_path / "pictures"])
        assert [each.reason for each in report.failures] == [
            "does not exist",
            "holds no file that can be read (1 of other kinds)",
        ]
        assert report.skipped == {".png": 1}
        assert not corpus.folder.exists()
        corpus.add_text("Words.", name="a")
        assert len(corpus.add([tmp_path / "nope.txt"]).failures) == 1
        assert corpus.exists
