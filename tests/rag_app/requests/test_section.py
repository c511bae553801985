"""Sections by their names: which one is found, how much of it is quoted, and what is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time

import pytest

from generator.answer import marker_spans
from generator.request import AskRequest
from indexing.documents import Document
from indexing.encoder.encoder import Encoder
from indexing.filter import Filter
from rag_app.chat.page.segments import paragraphs
from rag_app.corpus.corpus import Corpus
from rag_app.requests.router import route
from rag_app.requests.section import MOST_WORDS, find_section
from tests.rag_app.requests.test_router import CATALOGUE, FERRY, HANDBOOK, ONE

STUDY = """# Heat pumps in old houses: a field study

## Contents

- Introduction
- Conclusion

## Abstract

We measured thirty-one heat pumps. Two winters of data show what they bring.

Keywords: heat, houses

## 4 Limitations

All houses lie near one town. Nobody lived in three of them.

| house | heat |
|---|---|
| 1 | 3.1 |

The meters of two houses failed.

## 5 Conclusion

Most old houses can be heated so. What matters is the flow temperature.

Owners should measure it first.

## References

Park, A. Conclusion of a study. Journal of Heat 33(3):331-357.
"""
TALK = "Ada: Let us begin.\nBen: The conclusion is too long, I think.\nAda: We shorten it.\n"


def document(text: str) -> Document:
    return Document("a", "/a.txt", "", "a", "text", "", text)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("sections")
    (folder / "heat-pumps.md").write_text(STUDY, encoding="utf-8")
    (folder / "minutes.txt").write_text(TALK, encoding="utf-8")
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        corpus.add([folder / "heat-pumps.md", folder / "minutes.txt"])
        yield corpus


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        (
            "What is the conclusion of the heat pump study?",
            [
                "Most old houses can be heated so. What matters is the flow temperature.",
                "Owners should measure it first.",
            ],
        ),
        (
            "What does heat-pumps.md conclude?",
            [
                "Most old houses can be heated so. What matters is the flow temperature.",
                "Owners should measure it first.",
            ],
        ),
        (
            "What are the limitations?",
            [
                "All houses lie near one town. Nobody lived in three of them.",
                "The meters of two houses failed.",
            ],
        ),
        (
            "Please show me the abstract of heat-pumps.",
            ["We measured thirty-one heat pumps. Two winters of data show what they bring."],
        ),
    ],
)
def test_a_section_is_quoted_paragraph_by_paragraph(
    corpus: Corpus, question: str, quotes: list[str]
) -> None:
    answer = corpus.ask(question)
    assert answer.kind == "section"
    assert [each.quote for each in answer.citations] == quotes
    for each in answer.citations:
        assert STUDY[each.start : each.end] == each.quote
    shown = [piece for line in paragraphs(answer.text, answer.mode, answer) for piece in line]
    markers = [int(piece.text) for piece in shown if piece.kind == "marker"]
    assert markers == [each.marker for each in answer.citations]
    assert markers == [each.marker for each in marker_spans(answer.text, answer.mode)]
    assert answer.text.startswith("Heat pumps in old houses: a field study, “")


def test_a_section_that_is_not_there_is_looked_up(corpus: Corpus) -> None:
    answer = corpus.ask("What are the recommendations of the heat pump study?")
    assert answer.kind == "question"


def test_it_is_answered_in_german(corpus: Corpus) -> None:
    answer = corpus.ask("Was ist das Fazit von heat-pumps?")
    assert answer.kind == "section"
    assert answer.text.startswith("Heat pumps in old houses: a field study, „5 Conclusion“: Most")


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("What is the conclusion of the ferry book?", (FERRY,)),
        ("What does the introduction of the staff handbook say?", (HANDBOOK,)),
        ("Summarize the conclusions in first-order-logic.md", ("first-order-logic",)),
        ("What does covid-19.pdf conclude?", ("covid-19",)),
    ],
)
def test_a_request_names_its_document(question: str, documents: tuple[str, ...]) -> None:
    target = route(AskRequest(question), CATALOGUE).target
    assert (target.kind, target.documents) == ("section", documents)


@pytest.mark.parametrize(
    "question",
    [
        "What is the conclusion?",  # of ten documents
        f"What was the conclusion of {ONE}?",  # a transcript
        "What are the limitations of radar?",
        "What are the results of covid-19.pdf?",
        "What is the background of the author?",
        "What does the committee conclude?",
        "Why is the conclusion of the ferry book so long?",
    ],
)
def test_what_is_no_request_for_a_section(question: str) -> None:
    assert route(AskRequest(question), CATALOGUE).target.kind != "section"


def test_without_a_name_it_is_about_the_documents_that_are_chosen() -> None:
    asked = AskRequest("What is the conclusion?", where=Filter((FERRY, ONE)))
    target = route(asked, CATALOGUE).target
    assert (target.kind, target.documents) == ("section", (FERRY,))


@pytest.mark.parametrize(
    ("text", "name", "heading", "first"),
    [
        (
            "1 Intro\n\nSome words.\n\n5. CONCLUSIONS\nIt works.\n",
            "conclusion",
            "5. CONCLUSIONS",
            "It works.",
        ),
        (
            "V. Concluding Remarks\n\nIt works.\n",
            "conclusion",
            "V. Concluding Remarks",
            "It works.",
        ),
        ("Conclusion\n==========\n\nIt works.\n", "conclusion", "Conclusion", "It works."),
        ("**Limitations**\n\nIt is slow.\n", "limitations", "Limitations", "It is slow."),
        ("Abstract\u2014We count herons.\n", "abstract", "Abstract", "We count herons."),
        (
            "1 Summary\n\nAt first.\n\n7. Summary\n\nAt last.\n",
            "conclusion",
            "7. Summary",
            "At last.",
        ),
        ("6 Fazit\n\nEs geht.\n", "conclusion", "6 Fazit", "Es geht."),
        ("5 Results\n\n5.1 Heat\n\nIt is warm.\n", "results", "5 Results", "It is warm."),
        (
            "Conclusion\nReferences\n\nConclusion\n\nIt works.\n",
            "conclusion",
            "Conclusion",
            "It works.",
        ),
    ],
)
def test_headings_of_all_kinds(text: str, name: str, heading: str, first: str) -> None:
    section = find_section(document(text), name)
    assert section is not None
    assert (section.heading, section.sentences[0].text) == (heading, first)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The conclusion\nof it all is that it works.\n", "conclusion"),
        ("method\nplot(x)\n", "methods"),
        ("Conclusion\n", "conclusion"),
        ("It works.\n", "conclusion"),
    ],
)
def test_what_is_no_section(text: str, name: str) -> None:
    assert find_section(document(text), name) is None


def test_a_section_ends_at_the_next_heading_of_a_page() -> None:
    text = (
        "2 Discussion\n\nHerons eat fish.\n\n2.1 What they leave\n\nBones.\n\n"
        "Figure 3: A heron.\n\n3 Conclusion\n\nThey thrive.\n\nAcknowledgements\n\nThanks.\n"
    )
    for name, said in [
        ("discussion", ["Herons eat fish.", "Bones."]),
        ("conclusion", ["They thrive."]),
    ]:
        section = find_section(document(text), name)
        assert section is not None
        assert [each.text for each in section.sentences] == said


@pytest.mark.parametrize(
    "text",
    [
        "# Reeds\n\n## Limitations\n\nTwo.\n\n### Data\n\nFew.\n\n## Thanks\n\nTo all.\n",
        "4 Limitations\n\nTwo.\n\n4.1 Data\n\nFew.\n\n5 Thanks\n\nTo all.\n",
        "## 4 Limitations\n\nTwo.\n\n### 4.1 Results\n\nFew.\n\n## 5 Results\n\nTo all.\n",
    ],
    ids=["signs", "numbers", "both"],
)
def test_a_section_has_the_sections_below_its_own(text: str) -> None:
    breaks = tuple(match.start() for match in re.finditer(r"^#", text, re.MULTILINE))
    section = find_section(replace(document(text), breaks=breaks), "limitations")
    assert section is not None
    assert [each.text for each in section.sentences] == ["Two.", "Few."]


def test_a_long_section_is_cut_at_a_sentence_and_says_so(tmp_path: Path, encoder: Encoder) -> None:
    sentences = [
        f"In year {year} the heron came back to the weir again." for year in range(1900, 2000)
    ]
    file = tmp_path / "weir.md"
    file.write_text("# Weir\n\n## Conclusion\n\n" + " ".join(sentences), encoding="utf-8")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([file])
        answer = corpus.ask("What is the conclusion?")
    (citation,) = answer.citations
    most = MOST_WORDS // 11
    assert citation.quote == " ".join(sentences[:most])
    assert answer.text.endswith(f"The section goes on for {11 * (100 - most):,} words.")


@pytest.mark.parametrize(
    "text",
    [
        "Conclusion\n" * 40_000,
        "Conclusion\n\nIt works.\n\n" * 20_000,
        "## Conclusion " + " " * 200_000 + "x",
        "# " * 100_000,
        "1. " * 100_000,
        "1. Heron\n\n" * 40_000,
        "# Conclusion\n## Conclusion\n### Conclusion\n" * 15_000,
        "1 Conclusion\n\n1.1 Conclusion\n\n1.1.1 Heron\n\n" * 15_000,
        "\n" * 400_000,
        " " * 400_000,
    ],
    ids=[
        "headings",
        "sections",
        "spaces",
        "signs",
        "numbers",
        "list",
        "levels",
        "sub-numbers",
        "lines",
        "blanks",
    ],
)
def test_a_hostile_text_takes_linear_time(text: str) -> None:
    started = process_time()
    find_section(document(text), "conclusion")
    assert process_time() - started < 20
