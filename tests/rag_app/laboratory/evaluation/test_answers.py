"""`rag-app evaluate answers`: figures worked out by hand, over a person's own questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rouge_score.rouge_scorer import RougeScorer

from indexing.errors import InvalidRequest
from rag_app.batch.qmsum import meetings
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from rag_app.laboratory.datasets import labelled_questions
from rag_app.laboratory.datasets.labelled_questions import Gold
from rag_app.laboratory.evaluation import answers
from rag_app.laboratory.evaluation.answers import KINDS, evaluate

FERRY = "The ferry sails at nine o'clock in the morning. It carries forty cars and a dog."
SOUP = "Soup is served at noon in the small kitchen. Bread is baked on Fridays by the cook."
QUESTIONS = [
    {
        "question": "When does the ferry sail?",
        "answer": "It sails at nine o'clock in the morning.",
        "answerable": True,
        "evidence": [{"path": "ferry.txt", "quote": "The ferry sails at nine\no'clock"}],
    },
    {
        "question": "When is soup served in the kitchen?",
        "answer": "At noon.",
        "answerable": True,
        "evidence": [{"path": "soup.txt", "quote": "Bread is baked on Fridays by the cook."}],
    },
    {"question": "Who won the chess match in Oslo?", "answerable": False},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "ferry.txt").write_text(FERRY)
    (folder / "soup.txt").write_text(SOUP)
    file = folder / "questions.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in QUESTIONS))
    return file


def test_figures_of_quotes_lead_and_oracle(questions: Path) -> None:
    report = evaluate(questions, kinds=["quote", "lead", "oracle"])
    assert (report["task"], report["questions"]) == ("answers", 3)
    quote, lead, oracle = report["answers"].values()
    assert quote["supported"] == 1 and quote["rightly_withheld"] == 1
    assert quote["wrongly_withheld"] == 0 and quote["seconds"] > 0
    assert quote["evidence_cited"] in (0.5, 1)  # the ferry's for sure
    scorer = RougeScorer(["rouge1"], use_stemmer=True)
    golds = [each["answer"] for each in QUESTIONS[:2]]
    expected = [
        scorer.score(gold, text)["rouge1"].fmeasure
        for gold, text in zip(golds, (FERRY, SOUP), strict=True)
    ]
    assert lead["rouge1"] == pytest.approx(100 * sum(expected) / 2, abs=0.01)
    assert lead["evidence_cited"] == 0 and lead["citations_in_evidence"] is None
    assert oracle["evidence_cited"] == 1 and oracle["rouge1"] > 0


def test_words_that_answer_and_near_misses_of_articles(tmp_path: Path) -> None:
    at = FERRY.index("nine")
    asked = [
        {"question": "When does the ferry sail?", "answers": [[at, at + 12]]},
        {"question": "Who won the chess match in Oslo?", "answers": []},
    ]
    line = {"source": "x", "title": "Ferry", "text": FERRY, "questions": asked}
    file = tmp_path / "articles.jsonl"
    file.write_text(json.dumps(line) + "\n")
    row = evaluate(file, kinds=["quote"])["answers"]["quote"]
    assert row["evidence_cited"] == 1 and row["rightly_withheld"] == 1
    assert row["withheld_at_5"] == 1 and row["answerable_auc"] == 1
    assert row["short_f1"] > 0.5


def test_near_misses_are_counted_where_few_others_are_withheld() -> None:
    right = [i / 100 for i in range(1, 101)]
    figures = answers._withheld_at(right, [0.005, 0.055, 0.065, None])
    assert figures["withheld_at_5"] == pytest.approx(2 / 3, abs=1e-3)
    by_hand = (100 + 95 + 94) / 300
    assert figures["answerable_auc"] == pytest.approx(by_hand, abs=1e-3)
    assert answers._withheld_at(right, [])["withheld_at_5"] is None


def test_a_reference_is_cited_as_an_answer_is(questions: Path) -> None:
    """Both are verified by the sentences that they are from; the soup's is not the marked one."""
    row = evaluate(questions, kinds=["reference"])["answers"]["reference"]
    assert row["rouge1"] == 100 and row["supported"] == 1
    assert row["citations"] == 2 and row["citations_in_evidence"] == 0.5
    assert row["evidence_cited"] == 0.5


@pytest.mark.parametrize(
    ("start", "end", "held"),
    [(0, 10, True), (5, 30, True), (6, 100, False), (8, 11, True), (9, 12, False), (10, 20, False)],
)
def test_a_citation_is_evidence_from_half_of_the_shorter(start: int, end: int, held: bool) -> None:
    gold = Gold("one", 0, 10)
    assert gold.overlaps("one", start, end) is held
    assert not gold.overlaps("two", start, end)


def test_the_command_prints_a_row_a_kind(questions: Path, tmp_path: Path) -> None:
    words = ["evaluate", "answers", "--data", str(questions), "--corpus", str(tmp_path / "kept")]
    result = CliRunner().invoke(main, [*words, "--kind", "quote", "--kind", "lead"])
    assert result.exit_code == 0, result.output
    assert [line.split("|")[1].strip() for line in result.stdout.splitlines()[2:]] == [
        "quote",
        "lead",
    ]
    result = CliRunner().invoke(main, [*words, "--kind", "oracle", "--questions", "1", "--json"])
    assert json.loads(result.stdout)["questions"] == 1


def test_a_meeting_is_asked_its_own_questions(meetings_file: Path) -> None:
    report = evaluate(meetings_file, kinds=["lead"])
    assert report["questions"] == 3  # those with gold turns
    asked = {
        one.question: one.document
        for one in labelled_questions._meeting_questions(meetings(meetings_file))
    }
    alpha, beta = (each.document.id for each in meetings(meetings_file))
    assert asked == {
        "Where is alpha3word5?": alpha,
        "Where is alpha19word5?": alpha,
        "Where is beta5word9?": beta,
    }


def test_what_cannot_be_measured_is_refused(questions: Path) -> None:
    with pytest.raises(InvalidRequest, match="no way to answer"):
        evaluate(questions, kinds=["guess"])
    with pytest.raises(InvalidRequest, match="no question"):
        evaluate(questions, kinds=list(KINDS[:1]), skip=2)


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("budget.txt", {"budget.txt"}),
        ("notes/budget.txt", {"budget.txt"}),
        ("old-budget.txt", {"old-budget.txt"}),
        ("es/budget.txt", set()),
        ("", {"budget.txt", "old-budget.txt"}),
    ],
)
def test_gold_evidence_is_in_the_file_that_it_names(
    tmp_path: Path, named: str, found: set[str]
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name in ("budget.txt", "old-budget.txt"):
        (folder / name).write_text(f"{name}: {FERRY}")
    asked = {"question": "When?", "evidence": [{"path": named, "quote": "The ferry sails"}]}
    file = folder / "questions.jsonl"
    file.write_text(json.dumps(asked))
    with Corpus(tmp_path / "corpus") as corpus:
        (question,) = labelled_questions.load_questions(file, corpus)
        paths = {Path(corpus.document(gold.document).path).name for gold in question.gold}
    assert paths == found


def test_gold_evidence_without_a_quote_or_in_another_part_is_none(questions: Path) -> None:
    for evidence in ({"path": "ferry.txt"}, {"part": "2", "quote": "The ferry sails"}):
        asked = {"question": "When?", "evidence": [evidence]}
        questions.write_text(json.dumps(asked))
        with Corpus(questions.parent / ".corpus") as corpus:
            (question,) = labelled_questions.load_questions(questions, corpus)
        assert question.gold == ()
