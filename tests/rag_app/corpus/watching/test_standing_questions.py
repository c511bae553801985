"""Standing questions: each new place is told once, whatever becomes of the text around it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import CorpusError, InvalidRequest
from indexing.filter import Filter, Scope
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.watching.standing_questions import STATE, Told

BUDGET = "Tell me when the budget comes up"


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        yield corpus


def line(number: int, words: str) -> str:
    return (
        f"[00:{number // 60:02}:{number % 60:02}] {('Ada Park', 'Tom Hale')[number % 2]}: {words}\n"
    )


def quotes(told: Iterator[Told]) -> list[str]:
    return [one.citation.quote for one in told]


def test_what_is_there_is_not_told_and_what_comes_is_told_once(
    corpus: Corpus, encoder: Encoder, tmp_path: Path
) -> None:
    path = tmp_path / "meeting.txt"
    path.write_text(line(1, "The budget is four hundred.") + line(2, "We need a rubber case."))
    corpus.add([path])
    standing = corpus.standing(BUDGET)
    assert quotes(standing.new()) == []
    path.write_text(path.read_text() + line(3, "Who cut it? The budgets were cut by Ines."))
    corpus.add([path])
    (told,) = standing.new()
    citation = told.citation
    assert (told.question, citation.speaker, citation.time) == (BUDGET, "Tom Hale", 3.0)
    assert citation.quote == "The budgets were cut by Ines."
    text = corpus.document(citation.document).text
    assert text[citation.start : citation.end] == citation.quote
    assert quotes(standing.new()) == quotes(corpus.standing(BUDGET).new()) == []
    (tmp_path / "other.txt").write_text("The mast fell. It was not in the budget.")
    corpus.add([tmp_path / "other.txt"])
    assert quotes(corpus.standing(BUDGET).new()) == ["It was not in the budget."]
    assert quotes(corpus.standing(BUDGET, collection="default").new()) == []  # asked anew


def test_nobody_is_told_of_what_they_may_not_read(corpus: Corpus, tmp_path: Path) -> None:
    for owner in ("ann", "bob"):
        (tmp_path / f"{owner}.txt").write_text("Good morning.")
        corpus.add([tmp_path / f"{owner}.txt"], collection=owner, owner=owner)
    standing = {one: corpus.standing(BUDGET, reader=Scope(one), name=one) for one in ("ann", "bob")}
    only = corpus.standing(BUDGET, where=Filter(documents=("none",)), name="only")
    assert not any(quotes(one.new()) for one in (*standing.values(), only))
    for owner in standing:
        (tmp_path / f"{owner}.txt").write_text(f"Good morning. The budget of {owner} is secret.")
        corpus.add([tmp_path / f"{owner}.txt"], collection=owner, owner=owner)
    for owner, one in standing.items():
        assert quotes(one.new()) == [f"The budget of {owner} is secret."]
    assert quotes(only.new()) == []
    standing["ann"].forget()
    again = corpus.standing(BUDGET, reader=Scope("ann"), name="ann")
    assert quotes(again.new()) == []  # as if it were asked now


def test_a_place_is_told_after_a_crash_before_the_next_one(corpus: Corpus, tmp_path: Path) -> None:
    standing, path = corpus.standing("budget"), tmp_path / "meeting.txt"
    assert quotes(standing.new()) == []  # before there is a corpus
    path.write_text("".join(line(n, f"Budget number {n} is cut.") for n in range(4)))
    corpus.add([path])
    told = standing.new()
    first, second = next(told), next(told)
    told.close()
    assert first.citation.quote == "Budget number 0 is cut."
    assert quotes(corpus.standing("budget").new()) == [
        second.citation.quote,
        "Budget number 2 is cut.",
        "Budget number 3 is cut.",
    ]


def test_a_text_that_is_renamed_or_put_aside_is_not_told_again(
    corpus: Corpus, tmp_path: Path
) -> None:
    standing, path = corpus.standing("budget"), tmp_path / "in" / "meeting.txt"
    path.parent.mkdir()
    standing.new()
    path.write_text("".join(line(n, f"Budget number {n} is cut.") for n in range(9)))
    list(standing.new())
    corpus.add([path.parent])
    assert len(quotes(standing.new())) == 9
    aside = path.with_name("meeting.1.txt")
    path.rename(aside)
    path.write_text(line(1, "Another budget comes after it.") + line(2, "And that is all."))
    corpus.add([path.parent])
    assert quotes(standing.new()) == ["Another budget comes after it."]
    corpus.remove([path])
    aside.rename(path)
    path.write_text(path.read_text() + line(10, "Budget number 10 is cut."))
    corpus.add([path.parent])
    assert quotes(standing.new()) == ["Budget number 10 is cut."]


def test_every_place_is_told_once_whatever_becomes_of_the_text(
    corpus: Corpus, tmp_path: Path
) -> None:
    """Histories that are drawn: it grows by parts of lines, is corrected before, is left alone."""
    for seed in range(4):
        draw, path = random.Random(seed), tmp_path / f"meeting{seed}.txt"
        lines = [line(n, f"It is line {n} on the keel.") for n in range(12)]
        told: list[str] = []
        path.write_text("".join(lines))
        corpus.add([path])
        assert quotes(corpus.standing(f"budget {seed}", "budget").new()) == []
        expected = []
        for number in range(12, 20):
            words = f"Matter {number} of {seed} is in the budget" if draw.random() < 0.6 else "No"
            if words != "No":
                expected.append(f"{words}, I think.")
            whole = line(number, f"{words}, I think.")
            if draw.random() < 0.4:
                cut = draw.randrange(len(whole) - 9, len(whole) - 2)
                path.write_text("".join(lines) + whole[:cut])
                corpus.add([path])
                told += quotes(corpus.standing("budget").new())
            if draw.random() < 0.3:
                lines[draw.randrange(6)] = line(5, "It is corrected, and longer than it was.")
            lines.append(whole)
            path.write_text("".join(lines))
            if draw.random() < 0.8:
                corpus.add([path])
                told += quotes(corpus.standing("budget").new())
        corpus.add([path])
        told += quotes(corpus.standing("budget").new())
        assert len(told) == len(expected)
        assert all(whole.startswith(each) for each, whole in zip(told, expected, strict=True))


def test_a_question_is_told_of_what_answers_it(corpus: Corpus, tmp_path: Path) -> None:
    path = tmp_path / "meeting.txt"
    path.write_text(line(1, "Good morning, let us begin with the case."))
    corpus.add([path])
    standing = corpus.standing("Who leads the field trial of Heron?")
    told = []
    for number, words in enumerate(
        (
            "The rubber case is two millimetres thick.",
            "The field trial of Heron is led by Maren Osei.",
            "Shall we have lunch at noon?",
        )
    ):
        told += quotes(standing.new())
        path.write_text(path.read_text() + line(number + 2, words))
        corpus.add([path])
    told += quotes(standing.new())
    assert told == ["The field trial of Heron is led by Maren Osei."]


def test_what_cannot_be_asked_or_remembered_is_said(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="empty"):
        corpus.standing(" ")
    (tmp_path / "a.txt").write_text("The mast fell.")
    corpus.add([tmp_path / "a.txt"])
    (corpus.folder / STATE).write_bytes(b"no database" * 1000)
    with pytest.raises(CorpusError, match="remove it to begin again"):
        list(corpus.standing("budget").new())
