"""The threshold of a corpus: made of questions about it, kept with it, for the models in use."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from generator.extractive.conformal import AbstentionRecord, save_abstention
from generator.parts import Parts, models_digest
from generator.request import AskRequest
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest, UnreadableFile
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.calibration.abstention import calibrate, measure, own_probes
from tests.conftest import SAMPLES
from tests.small_models import save_random

QUESTION = AskRequest("How much did the rubber case cost?", "quote")


def test_without_its_evidence_a_question_is_less_likely_answered(samples_corpus: Corpus) -> None:
    probes = own_probes(SAMPLES / "questions.jsonl")
    answered = [each for each in probes if each.answered and each.evidence][:3]
    unanswered = [each for each in probes if not each.answered][:1]
    record = measure(samples_corpus, [*answered, *unanswered], "three and one")
    assert (len(record.answered), len(record.unanswered)) == (3, 4)
    assert np.mean(record.unanswered) < np.mean(record.answered)
    fingerprint = samples_corpus.info().fingerprint
    assert fingerprint is not None
    assert record.models == models_digest(fingerprint, Parts())


def test_questions_of_a_file(tmp_path: Path, samples_corpus: Corpus) -> None:
    rows = [
        {"question": "Why was it cut?", "evidence": [{"quote": "It was cut."}]},
        {"question": "Who?", "answerable": False},
        {"question": "What?", "rated": "down", "answer": ""},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")
    found = own_probes(file)
    assert [(each.question, each.answered) for each in found] == [
        ("Why was it cut?", True),
        ("Who?", False),
    ]
    assert found[0].evidence == ("It was cut.",)
    with pytest.raises(InvalidRequest, match="promise nothing"):
        calibrate(samples_corpus, file)
    file.write_text("[1]", "utf-8")
    with pytest.raises(UnreadableFile, match="answerable"):
        own_probes(file)


def test_a_share_becomes_the_threshold_that_was_calibrated(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    with Corpus(folder) as corpus:
        corpus.add([SAMPLES / "heron-2-interviews.txt"])
        fingerprint = corpus.info().fingerprint
        assert fingerprint is not None
        likely = corpus.answer_probability(QUESTION)
        digest = models_digest(fingerprint, Parts())
    settings = GeneratorSettings(withhold=0.05)
    with (
        Corpus(folder, generator=settings) as corpus,
        pytest.raises(InvalidRequest, match="calibrate --part abstention"),
    ):
        corpus.answer(QUESTION)
    for below, abstains in ((likely - 0.01, False), (likely + 0.01, True)):
        save_abstention(AbstentionRecord(digest, "made", (below,) * 99), folder)
        with Corpus(folder, generator=settings) as corpus:
            assert corpus.abstention() is not None
            assert corpus.answer(QUESTION).abstained is abstains


def test_it_is_not_of_other_models(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    reader = save_random(tmp_path / "reader", "BertForQuestionAnswering", ("start", "end"))
    with Corpus(folder) as corpus:
        corpus.add([SAMPLES / "heron-2-interviews.txt"])
        fingerprint = corpus.info().fingerprint
        assert fingerprint is not None
        digest = models_digest(fingerprint, Parts())
        save_abstention(AbstentionRecord(digest, "made", (0.1,) * 99), folder)
        assert corpus.abstention() is not None
    other = GeneratorSettings(parts=Parts(reader=str(reader)))
    with Corpus(folder, generator=other) as corpus:
        assert corpus.abstention() is None
