"""Evidence against numbers worked out by hand.

Every utterance is a passage of 121 words (120 and its label) whose words occur nowhere else, so
BM25 gives the utterance that a question names the first place and all others, equal, their order in
the corpus. A context of 1,000 words holds 8 passages, one of 2,000 words 16.

| question     | gold    | corpus: 8, 16 passages   | share  | meeting: 8, 16           | share  |
|--------------|---------|--------------------------|--------|--------------------------|--------|
| alpha3word5  | a3, a17 | a3 a0-2 a4-7; a3 .. a15  | .5, .5 | the same                 | .5, .5 |
| alpha19word5 | a14     | a19 a0-6; a19 a0-14      | 0, 1   | the same                 | 0, 1   |
| beta5word9   | b5, b0  | b5 a0-6; b5 a0-14        | .5, .5 | b5 b0-4 b6-7; b5 .. b15  | 1, 1   |
| beta6word9   | none    |                          |        |                          |        |
"""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.documents import Document
from indexing.encoder.settings import EncoderSettings
from indexing.text.chunking import split
from rag_app.laboratory.evaluation import evidence
from rag_app.laboratory.evaluation.longembed import Method
from tests.rag_app.laboratory.evaluation.evaluation_meetings import WORDS
from tests.reading import read


def test_every_turn_is_a_passage(meetings_file: Path) -> None:
    for document in read(meetings_file):
        assert isinstance(document, Document)
        passages = split(document)
        assert [(p.start, p.end) for p in passages] == [
            (t.start, t.end) for t in document.utterances
        ]
        assert len(document.text[passages[0].start : passages[0].end].split()) == WORDS + 1


def test_recall_and_hit(meetings_file: Path, settings: EncoderSettings, tmp_path: Path) -> None:
    report = evidence.evaluate(meetings_file, Method(settings, "bm25"), folder=tmp_path)
    third = 1 / 3
    assert report.as_dict() | {"seconds": None, "fingerprint": None} == {
        "task": "evidence",
        "documents": 2,
        "queries": 4,
        "document_characters": report.meetings.statistics["document_characters"],
        "query_characters": 21 + 22 + 20 + 20,
        "ndcg_at_10": 1.0,
        "acc_at_1": 1.0,
        "encoded": 2,
        "seconds": None,
        "queries_with_evidence": 3,
        "corpus": {
            "1000": {
                "recall": pytest.approx(third, abs=1e-5),
                "hit": pytest.approx(2 * third, abs=1e-5),
            },
            "2000": {"recall": pytest.approx(2 * third, abs=1e-5), "hit": 1.0},
        },
        "document": {
            "1000": {"recall": 0.5, "hit": pytest.approx(2 * third, abs=1e-5)},
            "2000": {"recall": pytest.approx(2.5 * third, abs=1e-5), "hit": 1.0},
        },
        "retriever": "bm25",
        "fingerprint": None,
    }
