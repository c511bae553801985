"""Features of borders against naive counts over words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from generator.evidence import Vectors
from generator.overview.blocks import Block, blocks
from generator.overview.border_features import CUES, BorderFeatures
from generator.overview.segmentation import Segmentation, segment
from indexing.documents import Passage
from indexing.files import document
from indexing.text.transcripts import find_utterances

BOATS = "The ferry carried boats over the harbour and the sailors mended a sail."
BREAD = "Flour and yeast make a dough, and the baker puts loaves into ovens."


def talk(lines: list[str]) -> tuple[list[Block], list[Passage], Vectors]:
    """A transcript, a passage an utterance, and vectors that know boats from bread."""
    text = "\n".join(f"{'Ada' if at % 3 == 0 else 'Bo'}: {line}" for at, line in enumerate(lines))
    whole = replace(document(text, name="talk"), utterances=find_utterances(text))
    passages = [Passage(each.start, each.end) for each in whole.utterances]
    vectors = [[1.0, 0.1] if line.endswith(BOATS) else [0.1, 1.0] for line in lines]
    return blocks(whole), passages, np.array(vectors, np.float32)


def test_two_subjects_are_two_topics() -> None:
    every, passages, vectors = talk([BOATS] * 12 + [f"Okay, next {BREAD}"] + [BREAD] * 11)
    vectors[12] = [0.1, 1.0]
    parts = segment(every, passages, vectors, Segmentation(share=0.5))
    assert [len(part) for part in parts] == [12, 12]


def test_a_long_document_has_three_topics_at_least() -> None:
    every, passages, vectors = talk([BOATS] * 140)
    assert len(segment(every, passages, vectors)) == 3
    assert len(segment(every, passages, vectors, Segmentation(long=9_999))) == 1


def test_values_by_hand() -> None:
    every, passages, vectors = talk([BOATS] * 12 + [BREAD] * 12)
    units = [[each] for each in every]
    features = BorderFeatures(units, passages, vectors)
    values = features.values()
    count = len(BOATS.split())
    assert features.places.tolist() == [count * at for at in range(25)]
    assert values["words"] == pytest.approx(np.log1p([count] * 24))
    assert values["first speaker"].tolist() == [1, 0, 0] * 8
    assert values["vectors, 250 words"][12] == pytest.approx(-1)
    assert values["stems, 100 words"][12] == pytest.approx(0)
    assert values["stems, 100 words"][3] == pytest.approx(1)
    bread = {stem for statement in every[12].statements for stem in statement.stems}
    assert values["new stems"][12] == pytest.approx(len(bread) / 100)
    assert values["new stems"][13] == pytest.approx(-len(bread) / 100)
    assert values["opening"][1] == pytest.approx(np.exp(-count / 200))
    assert values["closing"][23] == pytest.approx(np.exp(-count / 200))


def test_cue_words_count_among_the_first_eight() -> None:
    said = ["So now next", "one two three four five six seven eight now", BOATS]
    every, passages, vectors = talk([*said, BREAD, BREAD, BREAD])
    cues = BorderFeatures([[each] for each in every], passages, vectors)._cues()
    assert cues.tolist() == pytest.approx([CUES["so"] + CUES["now"] + CUES["next"], 0, 0, 0, 0, 0])
