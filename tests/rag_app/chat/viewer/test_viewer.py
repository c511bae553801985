"""A file is shown as long as it is what was indexed; else its text, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fpdf import FPDF

from indexing.errors import DocumentNotFound, UnreadableFile
from rag_app.chat.viewer.original import CHANGED, GONE
from rag_app.chat.viewer.viewer import Viewer
from rag_app.corpus.corpus import Corpus


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    with Corpus(tmp_path_factory.mktemp("viewed") / "corpus") as corpus:
        yield corpus


@pytest.fixture
def viewer(corpus: Corpus) -> Iterator[Viewer]:
    viewer = Viewer(corpus)
    yield viewer
    viewer.close()


def pdf(path: Path, *pages: str) -> Path:
    file = FPDF()
    file.set_font("Helvetica", size=14)
    for words in pages:
        file.add_page()
        file.cell(text=words)
    file.output(str(path))
    return path


def test_pages_are_shown_while_the_file_is_what_was_read(
    corpus: Corpus, viewer: Viewer, tmp_path: Path
) -> None:
    path = pdf(tmp_path / "tern.pdf", "The tern nests in May.", "The kite nests in April.")
    (id_,) = corpus.add([path]).added
    document = corpus.document(id_)
    opened = viewer.open(id_, None)
    assert len(opened.sizes) == 2 and not opened.problem
    start = document.text.index("nests in April")
    assert viewer.picture(id_, None, 2, 500) is not None
    # A span over the end of a page has boxes on both.
    whole = viewer.boxes(id_, None, 4, start + 5)
    assert [(one.page, len(one.boxes)) for one in whole] == [(1, 1), (2, 1)]
    with pytest.raises(UnreadableFile):
        viewer.picture(id_, None, 3, 500)
    # Another time and the same content: the file is read again, and is the same.
    os.utime(path, ns=(1, 1))
    assert viewer.open(id_, None).sizes
    pdf(path, "The tern nests in June.")
    opened = viewer.open(id_, None)
    assert opened.problem == CHANGED and not opened.sizes
    assert viewer.picture(id_, None, 1, 500) is None
    assert viewer.boxes(id_, None, 0, 5) == []
    path.unlink()
    assert viewer.open(id_, None).problem == GONE


def test_a_text_that_never_was_a_file_shows_no_file(
    corpus: Corpus, viewer: Viewer, tmp_path: Path
) -> None:
    secret = pdf(tmp_path / "secret.pdf", "Nobody may read this.")
    (named,) = corpus.add_text("A note.", name="note").added
    (posing,) = corpus.add_text("Another note.", name=str(secret)).added
    assert viewer.open(named, None).problem == ""
    assert viewer.open(posing, None).original.path is None
    assert viewer.picture(posing, None, 1, 500) is None


def test_a_recording_plays_beside_its_transcript_only(
    corpus: Corpus, viewer: Viewer, tmp_path: Path
) -> None:
    (tmp_path / "call.vtt").write_text(
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>The owl flies.\n\n"
        "00:03.000 --> 00:04.000\n<v Bob>At night.\n"
    )
    (tmp_path / "notes.txt").write_text("The owl was seen at night.")
    for name in ("call.wav", "notes.wav"):
        (tmp_path / name).write_bytes(b"RIFF")
    corpus.collections.create("ann", owner="ann")
    call, notes = corpus.add(
        [tmp_path / "call.vtt", tmp_path / "notes.txt"], collection="ann"
    ).added
    found = viewer.recording(call, "ann")
    assert found is not None and found.path == tmp_path / "call.wav"
    assert viewer.recording(notes, "ann") is None
    with pytest.raises(DocumentNotFound):
        viewer.recording(call, "bob")
