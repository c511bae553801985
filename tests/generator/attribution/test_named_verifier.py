"""Verifiers by name: classes by their labels, tokens by the least supported one, one scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from generator.attribution.named_verifier import PACKAGED, NamedVerifier, measure
from generator.attribution.verifier import Verifier
from indexing.errors import UnsupportedModel
from tests.small_models import save_random

SENTENCE = "The budget was cut in May."
EXCERPTS = ["In May the budget was cut by a third.", "The lunch is cheap and warm."]


def logits(folder: Path, kind: str, excerpt: str) -> tuple[torch.Tensor, list[int | None]]:
    """One pair without padding, through transformers alone."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = getattr(transformers, f"AutoModelFor{kind}").from_pretrained(folder)
    inputs = tokenizer(excerpt, SENTENCE, return_tensors="pt")
    with torch.inference_mode():
        return model(**inputs).logits[0], inputs.sequence_ids(0)


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [(("contradiction", "ENTAILMENT", "neutral"), 1), (("not_supported", "supported"), 1)],
)
def test_the_class_that_supports(tmp_path: Path, labels: tuple[str, ...], wanted: int) -> None:
    folder = save_random(tmp_path / "model", "BertForSequenceClassification", labels)
    found = NamedVerifier(str(folder)).raw_probabilities(SENTENCE, EXCERPTS)
    for excerpt, likely in zip(EXCERPTS, found, strict=True):
        expected = logits(folder, "SequenceClassification", excerpt)[0].softmax(-1)[wanted]
        assert likely == pytest.approx(float(expected), abs=0.02)


def test_one_class_is_the_one(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForSequenceClassification")
    found = NamedVerifier(str(folder)).raw_probabilities(SENTENCE, EXCERPTS)
    for excerpt, likely in zip(EXCERPTS, found, strict=True):
        expected = logits(folder, "SequenceClassification", excerpt)[0].sigmoid()
        assert likely == pytest.approx(float(expected[0]), abs=0.02)


def test_a_sentence_is_as_supported_as_its_worst_token(tmp_path: Path) -> None:
    labels = ("supported", "hallucinated")
    folder = save_random(tmp_path / "model", "BertForTokenClassification", labels)
    found = NamedVerifier(str(folder)).raw_probabilities(SENTENCE, EXCERPTS)
    for excerpt, likely in zip(EXCERPTS, found, strict=True):
        each, parts = logits(folder, "TokenClassification", excerpt)
        inside = torch.tensor([part == 1 for part in parts])
        expected = 1 - float(each.softmax(-1)[inside, 1].max())
        assert likely == pytest.approx(expected, abs=0.02)


def test_probabilities_are_on_the_packaged_scale(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForSequenceClassification")
    verifier = NamedVerifier(str(folder))
    level = measure(verifier.raw_probabilities)
    if level.related > level.unrelated + 0.01:  # a random model can tell nothing
        moved = measure(verifier.probabilities)
        assert moved.related == pytest.approx(PACKAGED.related, abs=0.3)
    assert ((probabilities := verifier.probabilities(SENTENCE, EXCERPTS)) >= 0).all()
    assert (probabilities <= 1).all()
    assert verifier.probabilities(SENTENCE, []).shape == (0,)


def test_the_packaged_scale_is_that_of_the_verifier_that_ships() -> None:
    level = measure(Verifier(dtype=torch.float32).probabilities)
    expected = (PACKAGED.unrelated, PACKAGED.related)
    assert (level.unrelated, level.related) == pytest.approx(expected, abs=0.02)


def test_labels_that_say_nothing_are_refused(tmp_path: Path) -> None:
    folder = save_random(tmp_path / "model", "BertForSequenceClassification", ("good", "bad"))
    with pytest.raises(UnsupportedModel, match=r"good, bad.*inference"):
        NamedVerifier(str(folder)).probabilities(SENTENCE, EXCERPTS)
    assert np.isfinite(PACKAGED.related)
