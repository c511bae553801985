"""Documents are encoded once; a corpus of something else is left alone; scores are search's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.files import document
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets.task import Task, TaskQuery
from rag_app.laboratory.evaluation.collection import open_collection

TEXTS = {
    "boats": "The ferry crosses the river at dawn. The pilot watches the tide.",
    "bread": "The baker kneads the dough. Sourdough needs a day to rise.",
    "bells": "The founder casts a bell of bronze. It rings for an hour.",
    "bees": "The hive swarms in May. Honey is taken in late summer.",
}
TASK = Task(
    "tiny",
    tuple(document(text, name=name) for name, text in TEXTS.items()),
    (TaskQuery("Who watches the tide?", 0), TaskQuery("How long does it rise? A day?", 1)),
)


@pytest.mark.parametrize("ranking", ["default", "dense", "bm25"])
def test_scores_stand_in_the_order_of_search(
    tmp_path: Path, encoder: Encoder, ranking: str
) -> None:
    shuffled = replace(TASK, documents=TASK.documents[::-1])
    with open_collection(TASK, encoder=encoder, ranking=ranking, folder=tmp_path):
        pass
    with (
        open_collection(shuffled, encoder=encoder, ranking=ranking, folder=tmp_path) as collection,
        Corpus(tmp_path, encoder=encoder) as corpus,
    ):
        assert collection.encoded == 0
        for query in (each.text for each in TASK.queries):
            hits = corpus.search(query, k=4, passages=1, ranking=ranking)
            found = {hit.title: hit.score for hit in hits}
            ours = collection.scores(query)
            expected = [found[one.title] for one in shuffled.documents]
            np.testing.assert_allclose(ours, expected, atol=1e-5)
            best = shuffled.documents[int(np.argmax(ours))].title
            assert best == hits[0].title


def test_queries_and_documents_are_encoded_once(tmp_path: Path, encoder: Encoder) -> None:
    def run() -> tuple[int, list[float]]:
        with open_collection(TASK, encoder=encoder, ranking="dense", folder=tmp_path) as found:
            return found.encoded, found.scores(TASK.queries[0].text).tolist()

    encoded, scores = run()
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "evaluation").iterdir()}
    assert encoded == 4
    assert len(kept) == 1
    assert run() == (0, scores)
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "evaluation").iterdir()} == kept


def test_damaged_query_vectors_are_made_again(tmp_path: Path, encoder: Encoder) -> None:
    with open_collection(TASK, encoder=encoder, ranking="dense", folder=tmp_path) as found:
        scores = found.scores(TASK.queries[0].text)
    for file in (tmp_path / "evaluation").iterdir():
        file.write_bytes(b"\x93NUMPY nothing")
    with open_collection(TASK, encoder=encoder, ranking="dense", folder=tmp_path) as found:
        np.testing.assert_array_equal(found.scores(TASK.queries[0].text), scores)


def test_a_run_that_stopped_half_way_goes_on(tmp_path: Path, encoder: Encoder) -> None:
    half = Task("tiny", TASK.documents[:2], TASK.queries)
    with open_collection(half, encoder=encoder, ranking="bm25", folder=tmp_path) as found:
        assert found.encoded == 2
    with open_collection(TASK, encoder=encoder, ranking="bm25", folder=tmp_path) as found:
        assert found.encoded == 2
        assert len(found.positions) == len(set(found.positions.tolist())) == 4


@pytest.mark.parametrize("other", ["documents", "encoding"])
def test_a_corpus_of_something_else_is_left_alone(
    tmp_path: Path, encoder: Encoder, other: str
) -> None:
    folder, said = tmp_path / "mine", list[str]()
    length = encoder.max_length - (other == "encoding")
    made_with = EncoderSettings(extension="none", max_length=length)
    with Corpus(folder, encoder=made_with) as corpus:
        for name, text in TEXTS.items():
            corpus.add_text(text, name=name)
        if other == "documents":
            corpus.add_text("Something quite different.", name="mine")
    before = (folder / "corpus.sqlite").read_bytes()
    with open_collection(
        TASK, encoder=encoder, ranking="bm25", folder=folder, notify=said.append
    ) as found:
        assert found.encoded == 4
        assert found.retriever.store.database.path.is_relative_to(tmp_path / "cache")
    assert (folder / "corpus.sqlite").read_bytes() == before
    assert len(said) == 1
    assert str(folder) in said[0]


def test_a_corpus_that_was_indexed_by_hand_is_used(
    tmp_path: Path, encoder: Encoder, meetings_file: Path
) -> None:
    from rag_app.batch.qmsum import meetings
    from rag_app.laboratory.evaluation.longembed import qmsum_task

    with Corpus(tmp_path, encoder=encoder) as corpus:
        corpus.add([meetings_file])
    task = qmsum_task(meetings(meetings_file))
    with open_collection(task, encoder=encoder, ranking="bm25", folder=tmp_path) as found:
        assert found.encoded == 0
