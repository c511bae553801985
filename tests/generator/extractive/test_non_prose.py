"""What is no prose answers nothing, or comes after what does."""

from __future__ import annotations

import numpy as np
import pytest

from generator.evidence import Embed, evidence_sentences
from generator.extractive.features import SentenceFeatures, WordVectors
from generator.extractive.non_prose import is_heading, is_row_of_numbers, names_only, non_prose
from generator.extractive.ranking import sentence_scores
from tests.generator.conftest import prose, span

PAPER = """The kernel matrix is computed in blocks.

Spectral clustering groups points by the eigenvectors of a graph.

base 12.4 9.6 38.2 16.6

References

Ng A, Jordan M (2001). "On Spectral Clustering: Analysis and an Algorithm." NIPS, 14:849-856.
Weiss Y (1999). "Segmentation Using Eigenvectors: a Unifying View." ICCV, 2:975-982.
Shi J, Malik J (2000). "Normalized Cuts and Image Segmentation." PAMI, 22(8):888-905.
"""


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# What caused the outage\nA disk was full.", ["What caused the outage"]),
        ("Causes of the outage\n\nA disk was full.", ["Causes of the outage"]),
        ("4.2. Causes of the outage\n\nA disk was full.", ["4.2. Causes of the outage"]),
        (
            "He left.\n\nPart B. The drug cabinet\n\n8. Keys\n\nThere are two.",
            ["The drug cabinet", "8. Keys"],
        ),
        ("He asked.\n\nNo. The old one\n\nThat was all.", []),
        ("A disk was full.\n\nEverything stopped.", []),
        ("Total: 350,000 pounds\n\nIt was spent.", []),
        ("2. The 350 pounds\n\nThey were spent.", []),
        ("Ada Park, chair\nBen, clerk", []),
        ("- Entries close on 30 September\n- The hall is booked\n", []),
        ("- Der Wettbewerb läuft bis 30. September\n- Der Saal ist gebucht\n", []),
    ],
)
def test_headings(text: str, headings: list[str], embed: Embed) -> None:
    every = evidence_sentences([span(prose(text))])
    found = [one.text.lstrip("# ") for one in every if is_heading(one)]
    assert found == headings
    scores = sentence_scores(SentenceFeatures.of("What was it?", every, WordVectors(embed)))
    if len(every) > len(headings):
        assert np.isfinite(scores[[not is_heading(one) for one in every]]).any()


def test_titles_and_labels_of_figures_only_name() -> None:
    text = "Lake\n\nFigure 8.\n\nTabelle 2.1\n\nFigure 8. Depth by month.\n\nThe lake is deep."
    every = evidence_sentences([span(prose(text, name="lake"))])
    named = [one.text for one in every if names_only(one)]
    assert named == ["Lake", "Figure 8.", "Tabelle 2.1", "Figure 8."]
    (alone,) = evidence_sentences([span(prose("The lake is deep", name="the lake is deep"))])
    assert not names_only(alone)


def test_lines_of_a_title_and_running_heads_only_name() -> None:
    title = "A Scores Test for the Depth of Lakes in Summer when the Year of the Flood is Unknown"
    first = "A Scores Test for the Depth of Lakes in Summer when the"
    text = (
        f"{first}\nYear of the Flood is Unknown\n\nAda Park\n\n"
        "The depth of lakes in summer is known.\n\n" + "It varies. " * 20 + f"\n\n20 {title}\n\n"
        "It is in the depth of lakes that we find the year of the flood, and none other.\n"
    )
    every = evidence_sentences([span(prose(text, name=title))])
    named = [one.text for one in every if names_only(one)]
    assert f"20 {title}" in named
    assert first in " ".join(named).replace("\n", " ")
    assert not any("known." in one or "none other" in one for one in named)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Whisper medium 60.3 26.7 124.7 16.4", True),
        ("-0.2 ± 1.3 <0.001 95% 12,345", True),
        ("In 2019, 12 of 40 people came at 9:30.", False),
        ("Batch size 256", False),
    ],
)
def test_rows_of_numbers(text: str, expected: bool) -> None:
    assert is_row_of_numbers(text) == expected


def test_entries_of_references_come_after_sentences(embed: Embed) -> None:
    every = evidence_sentences([span(prose(PAPER))])
    features = SentenceFeatures.of("What is spectral clustering?", every, WordVectors(embed))
    marked = [one.text for one, out in zip(every, non_prose(features), strict=True) if out]
    assert marked[0] == "base 12.4 9.6 38.2 16.6"
    assert marked[1].startswith("Ng A, Jordan M (2001).")
    assert len(marked) == sum(one.start > PAPER.index("References") + 10 for one in every) + 1
    best = every[int(np.argmax(sentence_scores(features)))].text
    assert best.startswith("Spectral clustering groups points")


@pytest.mark.parametrize(
    ("question", "row", "entries"),
    [
        ("How many points are there?", 0, True),
        ("Which work is cited on spectral clustering?", 1, False),
    ],
)
def test_what_is_asked_for_is_no_fault(
    question: str,
    row: int,
    entries: bool,
    embed: Embed,
) -> None:
    every = evidence_sentences([span(prose(PAPER))])
    out = non_prose(SentenceFeatures.of(question, every, WordVectors(embed)))
    assert out[[one.text.startswith("base 12") for one in every]].tolist() == [row]
    assert bool(out[[one.text.startswith("Ng A") for one in every]].any()) == entries
