"""Answers that changed documents concern are asked again, and nothing is lost on the way."""

from __future__ import annotations

import copy
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from generator.answer import Answer
from generator.evidence import Evidence, Span
from generator.request import AskRequest
from indexing.encoder.encoder import Encoder
from indexing.errors import InvalidRequest
from indexing.files import document
from rag_app.batch.answer_file import read_answers
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question
from rag_app.batch.refresh import _new_evidence, evidence_kept
from rag_app.batch.report import page
from rag_app.batch.run import Summary, run, told
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

TEXTS = {
    "kitchen": "Minutes.\n\nThe budget for the kitchen is five thousand pounds.\n\nWe had tea.\n",
    "open-day": "Minutes.\n\nThe open day is on the third of April.\n\nThe keys are lost.\n",
    "trial": "Minutes.\n\nAnna Berg leads the field trial in Harwick.\n\nIt rained.\n",
    "hall": "Minutes.\n\nThe deposit for the hall is ninety pounds.\n\nThe lift works.\n",
}
ASKED = [
    Question("kitchen", "What is the budget for the kitchen?"),
    Question("day", "When is the open day?"),
    Question("trial", "Who leads the field trial in Harwick?"),
    Question("hall", "What is the deposit for the hall?", "hall"),
]
REFRESH = BatchOptions(changed="refresh")


def fill(corpus: Corpus) -> None:
    for name, text in TEXTS.items():
        corpus.add_text(text, name=name)


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Path:
    """A corpus and answers, after which two documents were edited and one was added; to copy."""
    folder = tmp_path_factory.mktemp("answered")
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        fill(corpus)
        run(corpus, ASKED, folder / "a.jsonl")
        later = TEXTS["kitchen"].replace("Minutes", "Minutes of May")
        corpus.add_text(later, name="kitchen")
        later = TEXTS["open-day"].replace("third of April", "ninth of May")
        corpus.add_text(later, name="open-day")
        corpus.add_text("Colm Brady leads the field trial in Harwick from today.\n", name="news")
    return folder


@pytest.fixture(scope="module")
def refreshed(
    tmp_path_factory: pytest.TempPathFactory, encoder: Encoder, answered: Path
) -> list[dict[str, Any]]:
    """The same answers, those that the changes concern asked again."""
    folder = shutil.copytree(answered, tmp_path_factory.mktemp("refreshed") / "all")
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        run(corpus, ASKED, folder / "a.jsonl", options=REFRESH)
    return read_answers(folder / "a.jsonl")


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder, answered: Path) -> Iterator[Corpus]:
    """The corpus as it is after the answers and the changes."""
    with Corpus(shutil.copytree(answered / "corpus", tmp_path / "corpus"), encoder=encoder) as own:
        yield own


@pytest.fixture
def out(tmp_path: Path, answered: Path) -> Path:
    """The answers."""
    return Path(shutil.copy(answered / "a.jsonl", tmp_path))


def outcome(summary: Summary) -> list[tuple[str, str, bool, list[str]]]:
    return [
        (one.id, one.reason, one.changed, [each["now"]["standing"] for each in quotes])
        for one in summary.changes
        if (quotes := one.before["citations"]) is not None
    ]


CHANGES = [
    ("kitchen", "quotes", False, ["moved"]),
    ("day", "quotes", True, ["altered"]),
    ("trial", "evidence", True, ["same"]),
]


def test_what_changed_documents_concern_is_asked_again(corpus: Corpus, out: Path) -> None:
    before = {each["id"]: each for each in read_answers(out)}
    done = run(corpus, ASKED, out, options=REFRESH)
    assert outcome(done) == CHANGES and (done.asked, done.kept) == (3, 1)
    day, trial = done.changes[1:]
    assert day.before["citations"][0]["now"]["text"] == "The open day is on the ninth of May."
    assert trial.documents == ("news",)
    assert [one["title"] for one in trial.added] == ["news"]
    now = {each["id"]: each for each in read_answers(out)}
    assert now["hall"] == before["hall"]  # its document is as it was
    for each in now.values():
        for quote in each["citations"]:
            text = corpus.document(quote["document"]).text
            assert text[quote["start"] : quote["end"]] == quote["quote"]
    assert outcome(run(corpus, ASKED, out, options=REFRESH)) == CHANGES  # nobody was told
    told(out, ASKED)
    lines = out.read_bytes()
    again = run(corpus, ASKED, out, options=REFRESH)
    assert (again.asked, again.changes) == (0, ()) and out.read_bytes() == lines
    assert run(corpus, ASKED, out).asked == 0  # all of them are of these documents


@pytest.mark.parametrize(
    ("scores", "quoted", "overtaken"),
    [
        ((9, 8, 1), True, False),
        ((8, 9, 1), True, True),
        ((9, 1, 8), True, True),
        ((9, 1, 2), True, False),  # far below what is quoted
        ((8, 9, 1), False, False),  # nothing that an order could change
    ],
)
def test_another_order_of_the_leading_evidence(
    scores: tuple[float, ...], quoted: bool, overtaken: bool
) -> None:
    text = "Ann leads it. Bob leads it. It rained."
    whole = document(text, name="notes")
    starts = [0, *(one.end() for one in re.finditer(r"\. ", text)), len(text) + 1]

    def evidence(scores: tuple[float, ...]) -> Evidence:
        places = zip(starts, starts[1:], scores, strict=False)
        spans = [Span(whole, start, end - 1, score) for start, end, score in places]
        return Evidence(tuple(sorted(spans, key=lambda one: -one.score)), ())

    kept, _ = evidence_kept(Answer("Who leads it?", "", mode="quote"), evidence((9, 8, 1)))
    citations = [{"document": whole.id, "start": 0, "end": 13}] if quoted else []
    record = {"mode": "quote", "evidence": kept, "citations": citations}
    assert bool(list(_new_evidence(record, evidence(scores)))) is overtaken


def test_an_answer_that_holds_is_not_looked_at_again(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "a.jsonl"
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        fill(corpus)
        run(corpus, ASKED[:2], out)
        corpus.add_text("The caretaker has a new dog.\n", name="dog")
        first = run(corpus, ASKED[:2], out, options=REFRESH)
        assert (first.asked, first.kept) == (0, 2)
        monkeypatch.setattr(corpus, "evidence", None)  # is not asked for
        assert run(corpus, ASKED[:2], out, options=REFRESH).asked == 0


def test_killed_in_the_middle_it_goes_on(
    corpus: Corpus, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, asked = corpus.answer, []

    def die(request: AskRequest) -> Answer:
        asked.append(request.question)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return answer(request)

    monkeypatch.setattr(corpus, "answer", die)
    with pytest.raises(KeyboardInterrupt):
        run(corpus, ASKED, out, options=REFRESH)
    assert len(read_answers(out)) == 4
    done = run(corpus, ASKED, out, options=REFRESH)
    assert done.asked == 2 and outcome(done) == CHANGES
    assert asked.count(ASKED[0].text) == 1  # its answer was there already


def test_changes_that_nobody_was_told_are_told_with_the_answer_before_them(
    corpus: Corpus, out: Path
) -> None:
    run(corpus, ASKED, out, options=REFRESH)
    corpus.add_text(TEXTS["open-day"].replace("third of April", "first of June"), name="open-day")
    done = run(corpus, ASKED, out, options=REFRESH)
    day = next(one for one in done.changes if one.id == "day")
    assert "third of April" in day.before["answer"] and "first of June" in day.after["answer"]
    assert "first of June" in day.before["citations"][0]["now"]["text"]


@pytest.mark.parametrize("changed", ["refresh", "ask"])
def test_a_change_is_told_after_asking_it_failed(
    changed: Any, corpus: Corpus, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: AskRequest) -> Answer:
        raise InvalidRequest("out of memory")

    with monkeypatch.context() as patch:
        patch.setattr(corpus, "answer", fail)
        assert run(corpus, ASKED, out, options=REFRESH).failed == 3
    told(out, ASKED)
    again = BatchOptions(changed=changed, retry_failed=True)
    assert outcome(run(corpus, ASKED, out, options=again)) == CHANGES
    corpus.add_text(TEXTS["hall"].replace("We had tea", "It rained"), name="tea")
    asked = run(corpus, ASKED, out, options=BatchOptions(changed="ask"))
    assert [one.id for one in asked.changes] == [one[0] for one in CHANGES]  # nobody was told
    told(out, ASKED)
    assert run(corpus, ASKED, out, options=again).changes == ()


def test_answers_of_earlier_versions_are_asked_again_where_documents_changed(
    corpus: Corpus, out: Path
) -> None:
    older = []
    for each in read_answers(out):
        del each["evidence"]
        for quote in each["citations"]:
            for name in ("label", "before", "after"):
                del quote[name]
        older.append(each)
    out.write_text("".join(f"{json.dumps(each)}\n" for each in older), "utf-8")
    done = run(corpus, ASKED, out, options=REFRESH)
    assert outcome(done) == [*CHANGES[:2], ("trial", "documents", True, ["same"])]


def test_a_document_that_is_gone(corpus: Corpus, out: Path) -> None:
    corpus.remove(["trial", "hall"])
    done = run(corpus, ASKED, out, options=REFRESH)
    standings = {id_: standing for id_, _, _, standing in outcome(done)}
    assert standings["trial"] == standings["hall"] == ["gone"] and done.failed == 1
    hall = next(one for one in done.changes if one.id == "hall")
    assert "ninety pounds" in hall.before["answer"] and hall.after["error"]["kind"]


def test_a_file_with_another_name_and_another_text_is_another_document(
    tmp_path: Path, encoder: Encoder
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    for name in ("kitchen", "trial"):
        (files / f"{name}.txt").write_text(TEXTS[name], "utf-8")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([files])
        asked = [ASKED[0], ASKED[2]]
        run(corpus, asked, tmp_path / "a.jsonl")
        (files / "kitchen.txt").rename(files / "renamed.txt")
        (files / "trial.txt").unlink()
        (files / "edited.txt").write_text(f"Late {TEXTS['trial']}", "utf-8")
        corpus.add([files])
        corpus.remove([one.id for one in corpus.missing()])
        done = run(corpus, asked, tmp_path / "a.jsonl", options=REFRESH)
    assert outcome(done) == [("trial", "quotes", False, ["gone"])]
    assert [one["title"] for one in done.changes[0].added] == ["edited"]  # where its words stand


def test_the_command_and_its_report(corpus: Corpus, out: Path) -> None:
    questions, report = out.with_name("q.jsonl"), out.with_name("report.html")
    rows = [{"id": one.id, "question": one.text, "document": one.document} for one in ASKED]
    questions.write_text("\n".join(map(json.dumps, rows)))
    words = ["batch", str(questions), "--corpus", str(corpus.folder), "--out", str(out)]
    words += ["--refresh", "--report", str(report)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 4, done.output
    assert 'now: "The open day is on the ninth of May."' in done.stdout
    assert "new or higher among the evidence: news" in done.stdout
    assert "same words: What is the budget" in done.stdout
    shown = report.read_text("utf-8")
    assert 'changed since the last report: <a href="#q2">2</a>, <a href="#q3">3</a>' in shown
    assert "The open day is on the third of April." in shown
    again = CliRunner().invoke(main, [*words, "--json"])
    assert again.exit_code == 0 and json.loads(again.stdout)["changes"] == []
    assert "third of April" not in report.read_text("utf-8")


@pytest.mark.parametrize(
    "former",
    [
        7,
        {"told": False},
        {"citations": [{"now": 1}]},
        {"citations": [{"now": {"standing": "same", "text": 1}}]},
        {"documents": [1]},
    ],
)
def test_a_former_answer_that_is_none_is_refused(
    former: Any, corpus: Corpus, out: Path, refreshed: list[dict[str, Any]]
) -> None:
    rows = copy.deepcopy(refreshed)
    assert "third of April" in page(rows)
    rows[1]["before"] = {**rows[1]["before"], **former} if isinstance(former, dict) else former
    if former == {"told": False}:
        del rows[1]["before"]["reason"]
    out.write_text("".join(f"{json.dumps(each)}\n" for each in rows), "utf-8")
    with pytest.raises(InvalidRequest, match="line 2"):
        run(corpus, ASKED, out, options=REFRESH)
