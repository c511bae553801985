"""Slides, rows, chapters and mails are named wherever a page is: hits, citations, the page."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from generator.answer_json import as_json
from indexing.encoder.encoder import Encoder
from rag_app.chat.page.quote_context import citation_place, span_context
from rag_app.cli import json_output, printing
from rag_app.corpus.corpus import Corpus

ASKED = {
    "What does a gondola cost?": ("costs", "row 3"),
    "Who repairs the funicular?": ("Repairs", "slide 2"),
    "When does the viaduct reopen?": ("Viaduct", "mail from Ada Park, 3 March 2026"),
}


def slides(path: Path) -> None:
    from pptx import Presentation

    made = Presentation()
    for title, words in (
        ("Repairs", "An overview."),
        ("Funicular", "Zoë Ng repairs the funicular."),
    ):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = words
    made.save(str(path))


def mail(path: Path) -> None:
    made = EmailMessage()
    made["From"], made["Subject"] = "Ada Park <ada@example.org>", "Viaduct"
    made["Date"] = "Tue, 03 Mar 2026 14:05:00 +0000"
    made.set_content("Hello Bob,\n\nThe viaduct reopens on 9 May 2027.\n\nAda")
    path.write_bytes(made.as_bytes())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("places")
    rows = ["Item,Cost in euros", "A chairlift,40000", "A gondola,75000", "A lift,9000"]
    (folder / "costs.csv").write_text("\n".join(rows))
    slides(folder / "slides.pptx")
    mail(folder / "viaduct.eml")
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        corpus.add([folder])
        yield corpus


@pytest.mark.parametrize("question", ASKED)
def test_places_in_answers_and_hits(
    question: str, corpus: Corpus, capsys: pytest.CaptureFixture[str]
) -> None:
    title, place = ASKED[question]
    answer = corpus.ask(question)
    (cited, *_) = answer.citations or answer.closest
    assert (cited.title, cited.place) == (title, place), answer
    document = corpus.document(cited.document)
    assert document.place_at(cited.start) == place
    assert citation_place(cited) == " · ".join(filter(None, (cited.dated, place)))
    assert span_context(document, cited.start, cited.end).location == place
    values = as_json(answer)
    assert place in str(values["citations"] or values["closest"])
    found = next(hit for hit in corpus.search(question) if hit.title == title)
    for passage in found.passages:
        assert passage.place == document.place_at(passage.start)
    (shown,) = (hit for hit in json_output.hits([found]))
    assert shown["passages"][0]["place"] == found.passages[0].place
    printing.hits([found], explain=False)
    assert str(found.passages[0].place) in capsys.readouterr().out


def test_places_come_back_from_an_export(corpus: Corpus, tmp_path: Path, encoder: Encoder) -> None:
    corpus.export_archive(tmp_path / "export.zip")
    with Corpus(tmp_path / "copy", encoder=encoder) as copy:
        copy.import_archive(tmp_path / "export.zip")
        ids = [each.id for each in corpus.documents()]
        assert [copy.document(id_) for id_ in ids] == [corpus.document(id_) for id_ in ids]
        assert copy.verify().sound
