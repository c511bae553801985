"""What is exported comes back to the last bit; what a stranger changes is refused."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexing.encoder.encoder import Encoder, EncoderSettings
from indexing.errors import UnreadableFile
from rag_app.corpus.archive import MANIFEST
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.exchange import DOCUMENTS, VECTORS

MEETING = "Ana: The mast fell.\nBob: It was old.\nAna: Zoë orders a new one. 東京 \U0001f600\n"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Corpus:
    tmp_path = tmp_path_factory.mktemp("exchange")
    (tmp_path / "meeting.txt").write_text(MEETING)
    (tmp_path / "long.md").write_text("# Ridge\n\n" + "The probe fell on the ridge. " * 90)
    corpus = Corpus(tmp_path / "corpus", encoder=encoder)
    corpus.add([tmp_path / "meeting.txt", tmp_path / "long.md"])
    return corpus


def content(corpus: Corpus) -> dict[str, object]:
    with corpus.reading() as now:
        store = now.store
        ids = [one.id for one in store.identities()]
        vectors = [(whole.tobytes(), parts.tobytes()) for _, whole, parts in store.vectors()]
        return {
            id_: (store.document(id_), store.passages_of(id_), own)
            for id_, own in zip(ids, vectors, strict=True)
        }


def test_everything_comes_back(corpus: Corpus, tmp_path: Path, encoder: Encoder) -> None:
    assert corpus.export_archive(tmp_path / "export.zip") == 2
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        first, again = (new.import_archive(tmp_path / "export.zip") for _ in range(2))
        assert (set(first.added), first.known, first.encoded) == (set(content(corpus)), 0, 0)
        assert (again.added, again.known) == ((), 2)
        assert content(new) == content(corpus)
        assert new.verify().sound
        assert new.search("new mast")[0].title == "meeting"


def test_it_is_plain_json_and_numpy(corpus: Corpus, tmp_path: Path) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    with zipfile.ZipFile(tmp_path / "export.zip") as archive:
        archive.extractall(tmp_path / "out")
    lines = (tmp_path / "out" / DOCUMENTS).read_text("utf-8").splitlines()
    assert {json.loads(line)["text"] for line in lines} >= {MEETING}
    wholes, parts = (np.load(tmp_path / "out" / name, allow_pickle=False) for name in VECTORS)
    assert (len(wholes), wholes.dtype) == (2, np.float32)
    assert np.allclose(np.linalg.norm(parts, axis=1), 1, atol=1e-4)


def test_another_encoder_reads_the_texts_again(corpus: Corpus, tmp_path: Path) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    other = EncoderSettings(dtype="float32", max_length=32)
    with Corpus(tmp_path / "new", encoder=other) as new:
        done = new.import_archive(tmp_path / "export.zip")
        assert (len(done.added), done.encoded) == (2, 2)
        fingerprint = new.info().fingerprint
        assert fingerprint is not None and fingerprint.max_length == 32
        assert {one.text for one in (new.document(id_) for id_ in done.added)} >= {MEETING}


def changed(path: Path, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> None:
    """Write an archive again, its entries changed and its manifest fitting them."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(entries.pop(MANIFEST))
    change(entries, manifest)
    manifest["files"] = {
        name: [len(data), hashlib.sha256(data).hexdigest()] for name, data in entries.items()
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        archive.writestr(MANIFEST, json.dumps(manifest))


def line(**values: object) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
    def change(entries: dict[str, bytes], _: dict[str, Any]) -> None:
        first, *rest = entries[DOCUMENTS].splitlines()
        entries[DOCUMENTS] = b"\n".join(
            [json.dumps({**json.loads(first), **values}).encode(), *rest]
        )

    return change


def entry(name: str, data: bytes) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
    return lambda entries, _: entries.update({name: data})


def facts(**values: object) -> Callable[[dict[str, bytes], dict[str, Any]], None]:
    return lambda _, manifest: manifest.update(values)


@pytest.mark.parametrize(
    "change",
    [
        line(text="another"),
        line(text=7),
        line(text="lone \ud800"),
        line(passages=[[0, 10**9, [], None, None]]),
        line(passages=[]),
        line(passages=[["0", 5, [], None, None]]),
        line(utterances=[[0, 5, 0]]),
        line(pages=[[-1, 5, 1]]),
        line(breaks="all"),
        line(tokens=True),
        line(added="yesterday"),
        line(metadata="{"),
        line(id=""),
        entry(DOCUMENTS, b"[" * 100_000),
        entry(DOCUMENTS, b""),
        entry(VECTORS[0], b"\x80\x04pickled"),
        entry(VECTORS[0], b"\x93NUMPY\x01\x00\x10\x00__import__('os')"),
        facts(documents=3),
        facts(passages=0),
        facts(documents="many"),
    ],
)
def test_what_a_stranger_changed_is_refused(
    change: Callable[[dict[str, bytes], dict[str, Any]], None],
    corpus: Corpus,
    tmp_path: Path,
    encoder: Encoder,
) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    changed(tmp_path / "export.zip", change)
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        with pytest.raises(UnreadableFile, match=r"damaged|does not say"):
            new.import_archive(tmp_path / "export.zip")
        assert new.verify().sound
        assert len(new.documents()) < 3


def test_a_model_that_an_archive_names_is_not_loaded(
    corpus: Corpus, tmp_path: Path, encoder: Encoder
) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    named = {**encoder.fingerprint.as_dict(), "model": "/tmp/evil"}
    changed(tmp_path / "export.zip", facts(fingerprint=named))
    with Corpus(tmp_path / "new", encoder=encoder) as new:
        assert new.import_archive(tmp_path / "export.zip").encoded == 2
        assert new.info().fingerprint == encoder.fingerprint
