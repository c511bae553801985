"""Documents by name, removed, and missing from the disk."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import DocumentNotFound, InvalidRequest
from rag_app.corpus.corpus import Corpus
from tests.permissions import readable_by_all, unprivileged


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


def test_a_file_in_a_folder_that_may_not_be_entered_is_not_missing(encoder: Encoder) -> None:
    with tempfile.TemporaryDirectory() as name, readable_by_all():
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
