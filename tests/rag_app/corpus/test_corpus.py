"""A corpus as programs use it: threads, names, refusals, encoding again."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import filelock
import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import (
    CorpusDamaged,
    CorpusError,
    CorpusNotFound,
    DocumentNotFound,
    EncoderMismatch,
    InvalidRequest,
)
from indexing.files import document
from indexing.store.store import FILE_NAME
from rag_app.corpus.corpus import Corpus
from tests.permissions import unprivileged

TEXTS = {f"probe {n}": f"Probe {n} fell into lake {n}. Divers found it." for n in range(8)}


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add_documents(document(text, name=name) for name, text in TEXTS.items())
        yield corpus


@pytest.fixture(scope="module")
def narrow() -> Encoder:
    return Encoder(EncoderSettings(dtype="float32", max_length=32))


def test_what_reads_files_ends_with_a_corpus_that_nobody_closed(
    tmp_path: Path, encoder: Encoder
) -> None:
    (tmp_path / "a.txt").write_text("A probe fell.")
    corpus = Corpus(tmp_path / "corpus", encoder=encoder)
    corpus.add([tmp_path / "a.txt"])
    process = corpus._reader._process._process
    assert process is not None and process.poll() is None
    del corpus
    gc.collect()
    assert process.poll() is not None


# ---- threads ----


def test_many_threads_search_one_corpus(corpus: Corpus) -> None:
    queries = [f"Where did probe {n % 8} fall?" for n in range(32)]
    alone = [corpus.search(query, k=3) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda query: corpus.search(query, k=3), queries))
    assert together == alone
    assert {hits[0].title for hits in together} == set(TEXTS)


def test_threads_search_while_one_adds(corpus: Corpus) -> None:
    """Each search sees one moment: its quotes are what its documents say then."""
    done, searched = threading.Event(), []

    def search() -> None:
        while not done.is_set():
            store = corpus._stores.connection()
            with store.reading():
                hits = corpus.search("Where did the probe fall?", k=99)
                for hit in hits:
                    text = store.document(hit.document).text
                    for passage in hit.passages:
                        assert text[passage.start : passage.end] == passage.text
                searched.append((store.generation, len(hits)))

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(search) for _ in range(3)]
        for n in range(8, 14):
            corpus.add_text(f"Probe {n} fell. {'Again. ' * n}", name=f"probe {n}")
            corpus.add_text(f"Probe 0 fell {n} times.", name="probe 0")
        done.set()
        for reader in readers:
            reader.result()
    assert len(corpus.documents()) == 14
    sizes = dict(searched)
    assert all(sizes[generation] == size for generation, size in searched)
    assert len(sizes) > 1


def test_closed_and_used_again(corpus: Corpus, encoder: Encoder) -> None:
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(corpus.search, ["probe"] * 4))
    before = corpus.search("probe 3")
    corpus.close()
    corpus.close()
    assert corpus.search("probe 3") == before


# ---- names ----


def test_a_document_by_id_path_or_title(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "minutes").mkdir()
    for name in ("a", "b"):
        (tmp_path / "minutes" / f"{name}.md").write_text(f"# Same title\n\nProbe {name} fell.")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([tmp_path / "minutes"])
        one, _ = corpus.documents()
        assert corpus.document(one.id).id == corpus.document(one.path).id == one.id
        for name in ("Same title", str(tmp_path / "minutes")):
            with pytest.raises(DocumentNotFound, match="2 documents; give an id"):
                corpus.document(name)
        with pytest.raises(InvalidRequest, match="2 documents have this title"):
            corpus.remove(["Same title"])
        with pytest.raises(DocumentNotFound, match="no such document"):
            corpus.remove([one.id, "nothing"])
        assert len(corpus.documents()) == 2
        assert corpus.remove([one.id, one.path]) == 1
        assert corpus.remove([tmp_path / "minutes"]) == 1
        assert corpus.documents() == [] and corpus.search("probe") == []


@pytest.mark.parametrize("name", ["~nobody/x", "a\0b", "", "/", "..", "x" * 5000, "*"])
def test_odd_names_fit_nothing(name: str, corpus: Corpus) -> None:
    with pytest.raises(DocumentNotFound):
        corpus.document(name)
    with pytest.raises(DocumentNotFound):
        corpus.remove([name])


def test_a_corpus_does_not_index_itself(tmp_path: Path, encoder: Encoder) -> None:
    """Nor another one that lies beside the files."""
    (tmp_path / "a.txt").write_text("A probe fell.")
    with Corpus(tmp_path / "one", encoder=encoder) as first:
        first.add([tmp_path])
        with Corpus(tmp_path / "two", encoder=encoder) as second:
            report = second.add([tmp_path])
            assert len(report.added) == 1 and not report.failures
            assert [entry.title for entry in second.documents()] == ["a"]
            assert first.add([tmp_path]).unchanged == 1


# ---- encoding again ----


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


# ---- refusals ----


def test_an_absent_corpus(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path / "nowhere", encoder=encoder) as corpus:
        for use in (
            lambda: corpus.search("probe"),
            corpus.documents,
            corpus.info,
            lambda: corpus.remove(["x"]),
            corpus.reencode,
            lambda: next(corpus.stream("probe?")),
        ):
            with pytest.raises(CorpusNotFound, match="rag-app index"):
                use()
        assert not (tmp_path / "nowhere").exists()


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


def test_a_file_in_a_folder_that_may_not_be_entered_is_not_missing(encoder: Encoder) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for each in ("closed/a.txt", "open/b.txt"):
            (folder / each).parent.mkdir()
            (folder / each).write_text(f"Words of {each}.")
        with Corpus(folder / "corpus", encoder=encoder) as corpus:
            corpus.add([folder / "closed", folder / "open"])
            (folder / "open" / "b.txt").unlink()
            (folder / "closed").chmod(0)
            with unprivileged():
                missing = [Path(each.path).name for each in corpus.missing()]
            (folder / "closed").chmod(0o700)
    assert missing == ["b.txt"]


def test_a_folder_that_is_a_file(tmp_path: Path, encoder: Encoder) -> None:
    (tmp_path / "file").write_text("mine")
    with Corpus(tmp_path / "file", encoder=encoder) as corpus:
        with pytest.raises(CorpusError, match="--corpus"):
            corpus.add_text("A probe.", name="a")
        with pytest.raises(CorpusNotFound):
            corpus.search("probe")
        assert (tmp_path / "file").read_text() == "mine"


def test_a_damaged_database(corpus: Corpus, encoder: Encoder) -> None:
    corpus.close()
    path = corpus.folder / FILE_NAME
    data = bytearray(path.read_bytes())
    data[4096 : len(data) // 2] = b"\xee" * (len(data) // 2 - 4096)
    path.write_bytes(data)
    for use in (
        lambda: corpus.search("probe"),
        lambda: corpus.add_text("More.", name="more"),
        corpus.documents,
        corpus.info,
    ):
        with pytest.raises(CorpusDamaged, match="move the folder away"):
            use()


def test_a_lock_on_the_index_stops_nobody(corpus: Corpus, encoder: Encoder) -> None:
    """Somebody else is saving one: a search makes its own and goes on."""
    shutil.rmtree(corpus.folder / ".index")
    with (
        filelock.FileLock(corpus.folder / "index.lock"),
        Corpus(corpus.folder, encoder=encoder) as other,
    ):
        assert other.search("probe 3")[0].title == "probe 3"
        assert other.info().snapshot == "missing"


def test_an_index_that_cannot_be_kept_is_told(tmp_path: Path, encoder: Encoder) -> None:
    told: list[str] = []
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / ".index").write_text("in the way")
    with Corpus(tmp_path / "corpus", encoder=encoder, notify=told.append) as corpus:
        assert len(corpus.add_text("Probe 3 fell.", name="probe 3").added) == 1
        assert corpus.search("probe 3")[0].title == "probe 3"
    assert told and "cannot be saved" in told[0]


def test_info_counts(corpus: Corpus, encoder: Encoder) -> None:
    info = corpus.info()
    assert (info.documents, info.passages, info.fingerprint) == (8, 8, encoder.fingerprint)
    assert info.words == sum(len(text.split()) for text in TEXTS.values())
    assert info.snapshot == "current"
    assert info.bytes == sum(f.stat().st_size for f in corpus.folder.rglob("*") if f.is_file())
    assert info.bytes > 20_000


def test_hits_of_an_answer_are_of_one_moment(corpus: Corpus) -> None:
    """Between search and quoting, another process may change a document."""
    from generator.answer import AnswerReady

    answer = [e for e in corpus.stream("Where did probe 3 fall?") if isinstance(e, AnswerReady)]
    assert [a.answer.citations for a in answer] != [()]
    for citation in answer[-1].answer.citations:
        text = corpus.document(citation.document).text
        assert text[citation.start : citation.end] == citation.quote


def test_samples_are_found(samples_corpus: Corpus) -> None:
    info = samples_corpus.info()
    assert info.documents == 11 and info.snapshot == "current"
    for entry in samples_corpus.documents():
        text = samples_corpus.document(entry.id).text
        middle = text[len(text) // 2 :].split("\n")[1:] or [text]
        query = max(middle[:8], key=len)
        (hit, *_) = samples_corpus.search(query, k=1)
        assert hit.document == entry.id, entry.title
