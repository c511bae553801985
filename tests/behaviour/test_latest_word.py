"""Facts that later meetings changed: what holds leads, what was said before stands below it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.latest_word import asked, graded
from benchmarks.latest_word.series import HALVES, made_series
from rag_app.chat.page.quote_context import citation_place
from rag_app.corpus.corpus import Corpus

LEADS = {
    "When is the launch of Heron now?": ("2025-12-08", "Monday the eleventh of May"),
    "What is the budget of the Heron project?": ("2025-12-08", "three hundred and sixty-eight"),
    "What is the retail price of Heron?": ("2025-12-08", "ninety-two pounds"),
    "Who is the main supplier of the nitrate probe?": ("2025-12-08", "Brackendale Electrodes"),
    "What was the budget in September?": ("2025-09-08", "four hundred and twelve thousand"),
}
COURSES = {
    "How did the launch date change?": ("second of March", "thirtieth of March", "eleventh of May"),
    "How has the retail price changed?": ("eighty-nine", "ninety-five", "ninety-two"),
}


@pytest.mark.parametrize("question", LEADS)
def test_what_holds_leads_with_its_day(samples_corpus: Corpus, question: str) -> None:
    day, words = LEADS[question]
    first, *others = samples_corpus.ask(question, answer="quote").citations
    assert first.day == day and words in " ".join(first.quote.split())
    assert all(one.day and one.order != "later" for one in others)


@pytest.mark.parametrize("question", COURSES)
def test_a_course_is_told_in_order(samples_corpus: Corpus, question: str) -> None:
    cited = samples_corpus.ask(question, answer="quote").citations
    assert [one.day for one in cited] == sorted(one.day for one in cited)
    text = " ".join(" ".join(one.quote for one in cited).split())
    places = [text.index(words) for words in COURSES[question]]
    assert places == sorted(places)


def test_quotes_are_shown_with_their_days(samples_corpus: Corpus) -> None:
    answer = samples_corpus.ask("When is the launch of Heron now?", answer="quote")
    first, second, *_ = map(citation_place, answer.citations)
    assert first == "2025-12-08 · 00:16:11 · Maren Osei"
    assert second.startswith("2025-11-17, earlier · ")


def test_what_is_out_of_date_does_not_lead(tmp_path: Path) -> None:
    """The posters say it last, and they are said to be wrong."""
    said = {
        "2026-01-12": "The open day is on the second of May.",
        "2026-02-09": "The second of May does not work for the open day, so it is the ninth now.",
        "2026-03-16": "The posters for the open day still say the second of May.",
    }
    with Corpus(tmp_path / "corpus") as corpus:
        for day, line in said.items():
            text = f"Ruth Bell: Good evening to all of you.\n\nOle Dahl: {line}\n"
            (tmp_path / f"minutes-{day}.txt").write_text(text)
        corpus.add([*tmp_path.glob("*.txt")])
        first, *_ = corpus.ask("When is the open day?", answer="quote").citations
        assert first.day == "2026-02-09"


def test_a_made_series_and_one_without_dates() -> None:
    series = [*made_series("developing")]
    figures: Counter[tuple[str, bool]] = Counter()
    for one in (series[1], series[-1]):
        for question, answer, files in asked(one):
            figures.update(graded(question, answer, files))
    wrong = {name: count for (name, right), count in figures.items() if not right}
    assert sum(figures.values()) >= 34 and sum(wrong.values()) <= 4, wrong
    assert ("undated: says so", False) not in figures


def test_series_are_seeded_and_the_halves_share_no_words() -> None:
    assert [*made_series("counted")] == [*made_series("counted")]
    questions = {half: [q for one in made_series(half) for q in one.questions] for half in HALVES}
    assert sum(q.asked != "undated" for half in HALVES for q in questions[half]) == 300
    values = [{value for q in questions[half] for value in q.values} for half in HALVES]
    assert not values[0] & values[1]


@pytest.mark.slow
@pytest.mark.parametrize(("half", "least"), [("developing", 44), ("counted", 38)])
def test_the_latest_word_leads_the_made_series(half: str, least: int) -> None:
    figures: Counter[tuple[str, bool]] = Counter()
    for one in made_series("developing" if half == "developing" else "counted"):
        for question, answer, files in asked(one):
            figures.update(graded(question, answer, files))
    assert figures["latest first", True] >= least
