"""Many questions into one file: read, asked, kept, resumed, and told about."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from generator.answer import Answer, ContextEntry
from generator.request import EVIDENCE_DOCUMENTS, AskRequest
from indexing.encoder.encoder import Encoder
from indexing.error_log import LOG_NAME
from indexing.errors import CorpusNotFound, InputError, InvalidRequest, RagAppError, UnreadableFile
from indexing.files import document
from rag_app.batch.answer_file import AnswerFile, read_answers
from rag_app.batch.options import BatchOptions
from rag_app.batch.questions import Question, read_questions
from rag_app.batch.run import Summary, run
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
TEXTS = {
    f"lake {n}": f"Ana: Probe {n} fell into lake {n}.\nBob: Divers found it." for n in range(4)
}
ASKED = [Question(f"q{n}", f"Who found probe {n % 4}?", f"lake {n % 4}") for n in range(6)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path_factory.mktemp("batch") / "corpus", encoder=encoder) as corpus:
        corpus.add_documents(document(text, name=name) for name, text in TEXTS.items())
        yield corpus


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a file, timings aside."""
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [{name: value for name, value in each.items() if name != "seconds"} for each in found]


# ---- files of questions ----


def written(path: Path, text: str) -> list[Question]:
    path.write_text(text, "utf-8")
    return read_questions(path)


def noted(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions that the corpus is asked from here on."""
    questions: list[str] = []
    answer = corpus.answer

    def note(request: AskRequest) -> Answer:
        questions.append(request.question)
        return answer(request)

    monkeypatch.setattr(corpus, "answer", note)
    return questions


def test_text_has_a_question_a_line(tmp_path: Path) -> None:
    first = written(tmp_path / "q.txt", "\ufeffWhy?\r\n\n# a remark\n Wo? ünd\nWhy?\n")
    assert [one.text for one in first] == ["Why?", "Wo? ünd", "Why?"]
    assert len({one.id for one in first}) == 3
    longer = written(tmp_path / "q.txt", "Before?\nWhy?\nWo? ünd\nWhy?\n")
    assert longer[1:] == first  # lines may be added between two runs


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_tables_are_read_by_the_names_of_columns(mark: str, tmp_path: Path) -> None:
    rows = [["Document", "note", "QUESTION", "id"], ["", "x", '"a; b,\tc?"', "1"], ["d", "", "e?"]]
    found = written(tmp_path / "q.csv", "\n".join(mark.join(row) for row in rows))
    assert [(one.id, one.text, one.document) for one in found] == [
        ("1", "a; b,\tc?", None),
        (found[1].id, "e?", "d"),
    ]


def test_json_lines_keep_what_cannot_be_asked(tmp_path: Path) -> None:
    text = """{"id": 7, "question": "a?", "document": "d", "more": 1}
{"question": ""}
nonsense
{"id": "x"}
["q"]
{"question": "b?", "document": 3}
"""
    found = written(tmp_path / "q.jsonl", text)
    assert [(one.id, one.text, one.document) for one in found[:1]] == [("7", "a?", "d")]
    assert [bool(one.problem) for one in found] == [False, True, True, True, True, True]
    assert "line 3 is not JSON" in str(found[2].problem) and found[3].id == "x"


def test_meetings_ask_their_own_queries(tmp_path: Path) -> None:
    source = ROOT / "data" / "samples" / "heron-4-probes.json"
    meeting = json.loads(source.read_text("utf-8"))
    meeting["general_query_list"] = [{"query": "Summarize.", "answer": "It was short."}]
    meeting["specific_query_list"] = [
        {"query": f"Why {n}?", "answer": "So.", "relevant_text_span": []} for n in range(2)
    ]
    for name in ("m.json", "m.jsonl"):
        found = written(tmp_path / name, json.dumps(meeting))
        assert [one.text for one in found] == ["Summarize.", "Why 0?", "Why 1?"]
        assert len({one.digest for one in found}) == 1 and found[0].digest
        assert [one.id.rsplit("-", 2)[1:] for one in found][1:] == [
            ["specific", "1"],
            ["specific", "2"],
        ]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("q.pdf", "x", "not a file of questions"),
        ("q.txt", "\n#\n", "holds no question"),
        ("q.csv", "a,b\n1,2\n", "no column `question`"),
        ("q.csv", "", "no column `question`"),
        ("q.jsonl", '{"id":"a","question":"x"}\n{"id":"a","question":"y"}', "twice"),
        ("q.json", '{"question": "a?"}', "meeting"),
    ],
)
def test_files_that_are_refused(name: str, text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=said):
        written(tmp_path / name, text)
    with pytest.raises(UnreadableFile, match="cannot be read"):
        read_questions(tmp_path / "nowhere.txt")


ROWS = [("k1", "Warum fiel die Büchse?"), ("k2", "Où est-elle ?")]
FORMS = {
    "q.csv": "id,question\n" + "".join(f"{id_},{text}\n\n" for id_, text in ROWS),
    "q.jsonl": "\n".join(
        json.dumps(dict(zip(("id", "question"), row, strict=True)), ensure_ascii=False) + "\n"
        for row in ROWS
    ),
    "q.txt": "\n\n".join(text for _, text in ROWS),
}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_files_as_editors_save_them(name: str, encoding: str, end: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FORMS[name].replace("\n", end).encode(encoding))
    found = read_questions(tmp_path / name)
    assert [one.text for one in found] == [text for _, text in ROWS]
    assert name == "q.txt" or [one.id for one in found] == ["k1", "k2"]
    assert not any(one.problem for one in found)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_meetings_as_editors_save_them(encoding: str, tmp_path: Path) -> None:
    meetings(tmp_path / "plain.jsonl")
    text = (tmp_path / "plain.jsonl").read_text("utf-8")
    (tmp_path / "saved.jsonl").write_bytes(f"\n{text}\n\n".replace("\n", "\r\n").encode(encoding))
    assert read_questions(tmp_path / "saved.jsonl") == read_questions(tmp_path / "plain.jsonl")


# ---- asking ----


def test_answers_are_those_of_asking_one_by_one(corpus: Corpus, tmp_path: Path) -> None:
    from generator.answer_json import as_json
    from indexing.filter import Filter

    steps: list[int] = []
    summary = run(
        corpus, ASKED, tmp_path / "a.jsonl", progress=lambda step: steps.append(step.done)
    )
    found = lines(tmp_path / "a.jsonl")
    assert [each["id"] for each in found] == [one.id for one in ASKED]
    for question, each in zip(ASKED, found, strict=True):
        alone = as_json(
            corpus.ask(question.text, where=Filter(documents=(str(question.document),)))
        )
        for name in ("answer", "unsupported", "context", "abstained", "mode"):
            assert each[name] == alone[name]
        for quote, other in zip(each["citations"], alone["citations"], strict=True):
            assert {name: quote[name] for name in other} == other
            around = quote["before"] + quote["quote"] + quote["after"]
            assert around in TEXTS[str(question.document)] and quote["label"] == quote["speaker"]
        assert [one["title"] for one in each["documents"]] == [question.document]
        assert each["error"] is None and each["settings"]["k"] == EVIDENCE_DOCUMENTS
    assert steps == [1, 2, 3, 4, 5, 6]
    assert (summary.asked, summary.answered, summary.failed, summary.left) == (6, 6, 0, 0)
    assert summary.per_hour == pytest.approx(6 * 3600 / summary.seconds, rel=0.01)


@pytest.mark.parametrize("workers", [2, 5])
def test_workers_keep_the_order(workers: int, corpus: Corpus, tmp_path: Path) -> None:
    run(corpus, ASKED, tmp_path / "one.jsonl")
    run(corpus, ASKED, tmp_path / "many.jsonl", options=BatchOptions(workers=workers))
    assert lines(tmp_path / "many.jsonl") == lines(tmp_path / "one.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == {"one.jsonl", "many.jsonl"}


def test_nothing_is_asked_twice(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, asked = tmp_path / "a.jsonl", noted(corpus, monkeypatch)
    first = run(corpus, ASKED, out, options=BatchOptions(limit=2))
    assert (first.asked, first.left) == (2, 4)
    second = run(corpus, ASKED, out, options=BatchOptions(limit=3))
    assert (second.asked, second.kept, second.left) == (3, 2, 1)
    before = out.read_bytes()
    assert run(corpus, ASKED, out).asked == 1 and run(corpus, ASKED, out).asked == 0
    assert asked == [one.text for one in ASKED] and out.read_bytes().startswith(before)


@pytest.mark.parametrize("workers", [1, 3])
def test_asked_to_stop_it_keeps_what_is_in_hand(
    workers: int, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, asked = tmp_path / "a.jsonl", noted(corpus, monkeypatch)
    options = BatchOptions(workers=workers)
    questions = [replace(one, id=f"{one.id}-{turn}") for turn in (1, 2) for one in ASKED]
    first = run(corpus, questions, out, options=options, stop=lambda: len(asked) >= 2)
    assert 2 <= first.asked == len(asked) <= 2 * workers + 1  # two a worker are in hand
    assert first.left == 12 - first.asked
    second = run(corpus, questions, out, options=options)
    assert second.asked == first.left and len(asked) == 12
    assert [each["id"] for each in lines(out)] == [one.id for one in questions]


def test_bad_questions_do_not_stop_the_run(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    bad = [
        Question("x", "Why?", "no such lake"),
        Question("y", "", problem="line 2 is not JSON"),
        Question("z", "Why?", "lake 0", digest="0" * 64),
    ]
    summary = run(corpus, [ASKED[0], *bad, ASKED[1]], out)
    assert (summary.answered, summary.failed) == (2, 3)
    assert [failure.id for failure in summary.failures] == ["x", "y", "z"]
    kinds = [each["error"] and each["error"]["kind"] for each in lines(out)]
    assert kinds == [None, "DocumentNotFound", "InvalidRequest", "DocumentNotFound", None]
    again = run(corpus, [ASKED[0], *bad, ASKED[1]], out)
    assert (again.asked, again.failed) == (0, 3)
    retried = run(corpus, [ASKED[0], *bad, ASKED[1]], out, options=BatchOptions(retry_failed=True))
    assert (retried.asked, retried.kept, retried.failed) == (3, 2, 3)
    assert [each["id"] for each in lines(out)] == ["q0", "x", "y", "z", "q1"]


def test_a_failure_of_any_kind_is_kept(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = corpus.answer

    def fail_sometimes(request: AskRequest) -> Answer:
        if "probe 1" in request.question:
            raise ZeroDivisionError("a bug")
        return answer(request)

    monkeypatch.setattr(corpus, "answer", fail_sometimes)
    monkeypatch.setenv("RAG_APP_LOG", str(tmp_path))
    assert run(corpus, ASKED, tmp_path / "a.jsonl").failed == 2
    errors = [each["error"] for each in lines(tmp_path / "a.jsonl") if each["error"]]
    for error in errors:
        assert error["kind"] == "ZeroDivisionError"
        assert error["message"].endswith(f"a bug); details: {tmp_path / LOG_NAME}")
    assert (tmp_path / LOG_NAME).read_text().count("in fail_sometimes") == len(errors) == 2
    monkeypatch.undo()
    retry = run(corpus, ASKED, tmp_path / "a.jsonl", options=BatchOptions(retry_failed=True))
    assert (retry.asked, retry.failed) == (2, 0)
    run(corpus, ASKED, tmp_path / "b.jsonl")
    assert lines(tmp_path / "a.jsonl") == lines(tmp_path / "b.jsonl")


def test_answers_without_a_lost_shard_are_counted_and_asked_again_on_request(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, out = corpus.answer, tmp_path / "a.jsonl"
    lost = ContextEntry("", "shard 1 is lost; documents not looked at: 3", 9, 0, 9)

    def without_a_shard(request: AskRequest) -> Answer:
        whole = answer(request)
        gone = (lost,) if "probe 1" in request.question else ()
        return replace(whole, context=(*whole.context, *gone))

    monkeypatch.setattr(corpus, "answer", without_a_shard)
    first = run(corpus, ASKED, out)
    assert (first.answered, first.partial, first.failed) == (6, 2, 0)
    monkeypatch.undo()
    kept = run(corpus, ASKED, out)
    assert (kept.asked, kept.partial) == (0, 2)
    retry = run(corpus, ASKED, out, options=BatchOptions(retry_failed=True))
    assert (retry.asked, retry.partial) == (2, 0)


def test_without_a_corpus_nothing_is_asked(tmp_path: Path, encoder: Encoder) -> None:
    with pytest.raises(CorpusNotFound):
        run(Corpus(tmp_path / "none", encoder=encoder), ASKED, tmp_path / "a.jsonl")
    assert not (tmp_path / "a.jsonl").exists()


# ---- what has changed since ----


def changed(
    corpus: Corpus, questions: list[Question], out: Path, said: str, k: int = 12
) -> Summary:
    """Refused, then kept, and the refusal and the notice say why."""
    told: list[str] = []
    with pytest.raises(InvalidRequest, match=said):
        run(corpus, questions, out, options=BatchOptions({"k": k}))
    before = out.read_bytes()
    kept = run(
        corpus, questions, out, options=BatchOptions({"k": k}, changed="keep"), notify=told.append
    )
    assert out.read_bytes() == before and re.search(said, told[0])
    return kept


def test_other_settings_are_noticed(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    run(corpus, ASKED[:3], out)
    assert (
        changed(corpus, ASKED[:3], out, r"3 answers .*other settings \(k was 12, is 2\)", 2).asked
        == 0
    )
    again = run(corpus, ASKED[:3], out, options=BatchOptions({"k": 2}, changed="ask"))
    assert (again.asked, again.kept) == (3, 0)
    assert {each["settings"]["k"] for each in lines(out)} == {2} and len(lines(out)) == 3


def test_other_documents_are_noticed(tmp_path: Path, encoder: Encoder) -> None:
    corpus, out = Corpus(tmp_path / "c", encoder=encoder), tmp_path / "a.jsonl"
    corpus.add_documents(document(text, name=name) for name, text in TEXTS.items())
    questions = [*ASKED[:3], Question("all", "Who found probe 2?")]
    run(corpus, questions, out)
    corpus.add_text("Ana: Dee found probe 1, and it was lost for ever.", name="lake 1")
    changed(corpus, questions, out, "2 answers were made before the documents changed")
    again = run(corpus, questions, out, options=BatchOptions(changed="ask"))
    assert again.asked == 2 and "lost for ever" in lines(out)[1]["answer"]
    assert [each["id"] for each in lines(out)] == ["q0", "q1", "q2", "all"]


def test_other_questions_are_noticed(corpus: Corpus, tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    run(corpus, ASKED[:3], out)
    edited = [ASKED[0], replace(ASKED[1], text="Who else?"), ASKED[2]]
    with pytest.raises(
        InvalidRequest, match="1 answers belong to questions that are not in the file"
    ):
        run(corpus, edited, out)
    kept = run(corpus, edited, out, options=BatchOptions(changed="keep"))
    assert kept.asked == 1 and [each["id"] for each in lines(out)] == ["q0", "q1", "q2", "q1"]
    told: list[str] = []
    again = run(corpus, edited, out, options=BatchOptions(changed="ask"), notify=told.append)
    assert again.asked == 0 and told[0].endswith("; kept")
    assert [each["question"] for each in lines(out)] == [
        *(one.text for one in edited),
        ASKED[1].text,
    ]


@pytest.mark.parametrize("changed", ["ask", "keep"])
def test_a_shorter_file_of_questions_deletes_no_answer(
    changed: Any, corpus: Corpus, tmp_path: Path
) -> None:
    out = tmp_path / "a.jsonl"
    run(corpus, ASKED, out)
    before = sorted(lines(out), key=lambda each: str(each["id"]))
    told: list[str] = []
    options = BatchOptions(changed=changed)
    done = run(corpus, ASKED[4:], out, options=options, notify=told.append)
    assert done.asked == 0 and "4 answers belong to questions that are not in the file" in told[0]
    assert sorted(lines(out), key=lambda each: str(each["id"])) == before
    run(corpus, ASKED[4:], out, options=BatchOptions({"k": 2}, changed="ask"), notify=told.append)
    assert told[-1].endswith("; 2 asked again, the others kept")
    assert {each["id"]: each["settings"]["k"] for each in lines(out)} == {
        **{one.id: EVIDENCE_DOCUMENTS for one in ASKED[:4]},
        **{one.id: 2 for one in ASKED[4:]},
    }


def test_documents_that_change_between_two_runs_of_the_command(
    encoder: Encoder, tmp_path: Path
) -> None:
    """Edited, removed and new: only questions whose documents those are, are asked again."""
    files = {name: tmp_path / f"{name.replace(' ', '-')}.txt" for name in TEXTS}
    for name, file in files.items():
        file.write_text(TEXTS[name])
    folder, out, questions = tmp_path / "corpus", tmp_path / "a.jsonl", tmp_path / "q.jsonl"
    with Corpus(folder, encoder=encoder) as corpus:
        corpus.add(files.values())
    rows = [{"id": f"q{n}", "question": f"Who found probe {n}?"} for n in range(4)]
    named = [{**row, "document": f"lake-{n}"} for n, row in enumerate(rows)]
    whole = {"id": "all", "question": "Who found probe 2?"}
    questions.write_text("\n".join(map(json.dumps, [*named, whole])))
    words = ["batch", str(questions), "--corpus", str(folder), "--out", str(out)]

    def command(*more: str) -> Any:
        return CliRunner().invoke(main, [*words, *more])

    assert command().exit_code == 0
    first = {each["id"]: each for each in lines(out)}
    assert command().exit_code == 0 and lines(out) == list(first.values())

    files["lake 1"].write_text("Ana: Dee found probe 1, and it was lost for ever.")
    with Corpus(folder, encoder=encoder) as corpus:
        corpus.add([files["lake 1"]])
        corpus.remove(["lake-3"])
        corpus.add_text("Cy: Probe 9 fell into lake 9.", name="lake 9")
    refused = command()
    assert refused.exit_code == 1
    assert "3 answers were made before the documents changed" in refused.stderr
    assert {each["id"]: each for each in lines(out)} == first
    assert command("--on-change", "keep").exit_code == 0
    assert {each["id"]: each for each in lines(out)} == first

    asked = command("--on-change", "ask", "--json")
    assert asked.exit_code == 3 and json.loads(asked.stdout)["asked"] == 3
    now = {each["id"]: each for each in lines(out)}
    assert list(now) == list(first)
    assert "lost for ever" in now["q1"]["answer"]
    assert now["q3"]["error"]["kind"] == "DocumentNotFound"
    assert now["all"]["fingerprint"] != first["all"]["fingerprint"]
    assert (now["q0"], now["q2"]) == (first["q0"], first["q2"])
    assert command().exit_code == 3 and {each["id"]: each for each in lines(out)} == now


# ---- the file ----


def record(question: Question, text: str = "ünd") -> dict[str, Any]:
    return {
        "id": question.id,
        "question": question.text,
        "document": question.document,
        "documents": [],
        "error": None,
        "answer": text,
        "citations": [],
        "unsupported": [],
        "context": [],
        "mode": "quote",
        "fingerprint": "a-b",
        "settings": {
            "version": "1",
            "k": 5,
            "generator": {"answer": "quote", "model": ""},
            "encoder": {},
        },
    }


KEYS = [one.key for one in ASKED]


def test_a_file_that_is_cut_anywhere_is_mended(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    with AnswerFile(out, KEYS) as file:
        for question in ASKED:
            file.add(question.key, record(question))
    whole = out.read_bytes()
    first = whole.index(b"\n") + 2
    for cut in [*range(first), *range(first, len(whole), 9), len(whole)]:
        out.write_bytes(whole[:cut])
        with AnswerFile(out, KEYS) as file:
            there = [key for key in KEYS if key in file.lines]
            assert len(there) == whole[:cut].count(b'"encoder": {}}}')
            for question in ASKED[len(there) :]:
                file.add(question.key, record(question))
        assert out.read_bytes() == whole
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("order", [[5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4], [2, 0, 1, 5, 4, 3]])
def test_answers_ahead_of_their_turn_survive(order: list[int], tmp_path: Path) -> None:
    """A kill after every one of them, by leaving the file as it stands then."""
    for kept in range(len(order) + 1):
        out = tmp_path / f"{kept}.jsonl"
        file = AnswerFile(out, KEYS)
        for n in order[:kept]:
            file.add(KEYS[n], record(ASKED[n]))
        file._lock.release()
        with AnswerFile(out, KEYS) as file:
            assert set(file.lines) == {KEYS[n] for n in order[:kept]}
            for n in order[kept:]:
                file.add(KEYS[n], record(ASKED[n]))
        assert [each["id"] for each in lines(out)] == [one.id for one in ASKED]


@pytest.mark.parametrize(
    "text",
    [
        "mine",
        "mine\n",
        '{"a": 1}\n',
        "[]\n\n",
        '{"id": "x"}',
        '{"name": "the notes of a year',
        '{ "id": "x", "question',
        '{"id": 7, "question": "Wh',
        "{\\rtf1 a letter}",
        '{"id": "x", "text": "the notes of a year',
    ],
)
def test_a_file_of_something_else_is_left_alone(text: str, tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text(text)
    with pytest.raises(InvalidRequest, match="name another --out"):
        AnswerFile(out, KEYS)
    assert out.read_text() == text


def test_blank_lines_mean_nothing(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    with AnswerFile(out, KEYS) as file:
        for question in ASKED[:4]:
            file.add(question.key, record(question))
    edited = out.read_bytes().replace(b"\n", b"\r\n\n  \n")
    for text in (edited, b"\n" + edited, edited + b"  "):
        out.write_bytes(text)
        assert len(read_answers(out)) == 4
        with AnswerFile(out, KEYS) as file:
            assert list(file.lines) == KEYS[:4] and not file.truncated
        assert out.read_bytes().startswith(text.rstrip(b" "))
        with AnswerFile(out, KEYS) as file:
            for question in ASKED[4:]:
                file.add(question.key, record(question))
        assert [each["id"] for each in read_answers(out)] == [one.id for one in ASKED]


EDITS: dict[str, dict[str, Any]] = {
    "a list for an id": {"id": ["q0"]},
    "a number for a fingerprint": {"fingerprint": 7},
    "a sentence for an error": {"error": "it failed"},
    "an error without a message": {"error": {"kind": "X"}},
    "no settings": {"settings": None},
    "settings of another form": {"settings": {"k": 5}},
    "an answer that is a list": {"answer": ["a"]},
    "citations without a marker": {"citations": [{"quote": "x"}]},
    "documents that are names": {"documents": ["lake 1"]},
    "doubts that are numbers": {"unsupported": [1]},
    "a ledger without counts": {"context": [{"title": "x"}]},
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_by_hand_that_breaks_an_answer_is_named(
    edit: str, corpus: Corpus, tmp_path: Path
) -> None:
    out, questions = tmp_path / "a.jsonl", tmp_path / "q.jsonl"
    rows = [record(ASKED[0]), {**record(ASKED[1]), **EDITS[edit]}]
    out.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    before = out.read_bytes()
    asked = [{"id": one.id, "question": one.text, "document": one.document} for one in ASKED]
    questions.write_text("\n".join(map(json.dumps, asked)))
    words = ["batch", str(questions), "--corpus", str(corpus.folder), "--out", str(out)]
    for more in ([], ["--on-change", "keep"], ["--on-change", "ask", "--report", "r.html"]):
        done = CliRunner().invoke(main, [*words, *more])
        assert done.exit_code == 1
        assert re.fullmatch(r"rag-app: .*: line 2 is not a batch answer; restore .*\n", done.stderr)
    with pytest.raises(InvalidRequest, match="line 2"):
        read_answers(out)
    assert out.read_bytes() == before


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with AnswerFile(tmp_path / "a.jsonl", KEYS), pytest.raises(InvalidRequest, match="another run"):
        AnswerFile(tmp_path / "a.jsonl", KEYS)
    AnswerFile(tmp_path / "a.jsonl", KEYS).__exit__(None, None, None)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="name another --out"):
        AnswerFile(tmp_path / "file" / "a.jsonl", KEYS)
    with pytest.raises(RagAppError):
        read_answers(tmp_path / "file")


# ---- the command, and kills ----


def test_the_command(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"question": one.text, "document": one.document} for one in ASKED[:2]]
    Path("q.jsonl").write_text("\n".join(map(json.dumps, [*rows, {"question": ""}])))
    words = ["batch", "q.jsonl", "--corpus", str(corpus.folder), "--out", "a.jsonl"]
    done = CliRunner().invoke(main, [*words, "--json", "--report", "page.html"])
    assert done.exit_code == 3
    assert json.loads(done.stdout)["failed"] == 1
    page = Path("page.html").read_text("utf-8")
    assert "Divers found it." in re.sub(r"</?(mark|strong|b)[^>]*>", "", page)
    said = CliRunner().invoke(main, words)
    assert said.exit_code == 3 and "from earlier runs" in said.stdout
    assert "the question is empty" in said.stderr and "--retry-failed" in said.stderr
    refused = CliRunner().invoke(main, [*words, "-k", "2"])
    assert refused.exit_code == 1 and "--on-change ask" in refused.stderr


def test_a_report_replaces_nothing_but_a_report(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text(ASKED[0].text)
    Path("notes.docx").write_bytes(b"PK, somebody's own")
    Path("link").symlink_to("q.txt")
    words = ["batch", "q.txt", "--corpus", str(corpus.folder), "--out", "a.jsonl", "--report"]
    for place in ("a.jsonl", "q.txt", str(tmp_path / "a.jsonl"), "link", "notes.docx", "none/r"):
        before = {one: one.read_bytes() for one in tmp_path.iterdir()}
        refused = CliRunner().invoke(main, [*words, place])
        assert refused.exit_code == 1 and place in refused.stderr
        assert before == {one: one.read_bytes() for one in tmp_path.iterdir()}
    for _ in range(2):
        assert CliRunner().invoke(main, [*words, "r.html"]).exit_code == 0
    assert Path("r.html").read_text("utf-8").startswith("<!doctype html>")
    assert sorted(tmp_path.glob(".r*")) == []


def test_requests_are_looked_up_where_that_is_asked_for(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text("What documents do you have?")
    words = ["batch", "q.txt", "--corpus", str(corpus.folder), "--out", "a.jsonl"]
    assert CliRunner().invoke(main, words).exit_code == 0
    [listed] = lines(Path("a.jsonl"))
    assert listed["kind"] == "documents"
    refused = CliRunner().invoke(main, [*words, "--read-as", "question"])
    assert refused.exit_code == 1 and "read_as was auto, is question" in refused.stderr
    again = [*words, "--read-as", "question", "--on-change", "ask"]
    assert CliRunner().invoke(main, again).exit_code == 0
    [looked_up] = lines(Path("a.jsonl"))
    assert looked_up["kind"] == "question"


STOPPING = """
import os, signal, time
from rag_app.batch.interrupt import stop_on_signal
with stop_on_signal() as stop:
    os.kill(os.getpid(), getattr(signal, "{name}"))
    assert stop() and stop.status == 128 + signal.{name}, stop.status
    print("first", flush=True)
    os.kill(os.getpid(), signal.{name})
    time.sleep(60)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_second_request_to_stop_ends_at_once(name: str) -> None:
    command = [sys.executable, "-c", STOPPING.format(name=name)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE
    )
    assert done.returncode == -getattr(signal, name)
    assert done.stdout == "first\n" and "again quits at once" in done.stderr


def test_ctrl_c_is_status_130_and_the_next_run_goes_on(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.txt").write_text("\n".join(f"Who found probe {n}?" for n in range(4)))
    words = ["batch", "q.txt", "--corpus", str(corpus.folder), "--out", "a.jsonl"]
    answer = Corpus.answer

    sent: list[int] = []

    def interrupted(*args: Any, **rest: Any) -> Any:
        if not sent:
            sent.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        return answer(*args, **rest)

    monkeypatch.setattr(Corpus, "answer", interrupted)
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 130 and "run the same command again" in done.stderr
    monkeypatch.setattr(Corpus, "answer", answer)
    kept = len(lines(Path("a.jsonl")))
    assert kept in {1, 2}
    said = CliRunner().invoke(main, [*words, "--json"])
    found = json.loads(said.stdout)
    assert said.exit_code == 0 and (found["kept"], found["asked"]) == (kept, 4 - kept)


def meetings(path: Path, count: int = 10) -> None:
    """At most ten short meetings with two queries each, of what a sample transcript says."""
    source = json.loads((ROOT / "data" / "samples" / "heron-4-probes.json").read_text("utf-8"))
    turns = source["meeting_transcripts"]
    made = [
        {
            "id": f"part-{n}",
            "meeting_transcripts": turns[n * len(turns) // 10 : (n + 1) * len(turns) // 10],
            "general_query_list": [{"query": "Summarize the meeting.", "answer": "-"}],
            "specific_query_list": [{"query": "Who spoke of probes?", "answer": "-"}],
        }
        for n in range(count)
    ]
    path.write_text("\n".join(map(json.dumps, made)))


# With the packaged reader alone: each life loads what it reads with, which is no part of the file.
KILLING = """
from generator import parts
from generator.reader import second_reader
parts.has_large = second_reader.has_multilingual = lambda: False
from benchmarks.batch_kills import command
command()
"""


def killed(folder: Path, *, kills: int, workers: int, count: int) -> None:
    meetings(folder / "meetings.jsonl", count)
    command = [sys.executable, "-c", KILLING, str(folder / "meetings.jsonl")]
    options = ["--kills", str(kills), "--workers", str(workers), "--json"]
    done = subprocess.run(
        [*command, *options], check=False, capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["questions"], found["kills"]) == (2 * count, kills)
    assert found["answers asked twice"] == 0


def test_killed_at_random_moments(tmp_path: Path) -> None:
    killed(tmp_path, kills=2, workers=2, count=2)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 3])
def test_killed_at_fifty_random_moments(workers: int, tmp_path: Path) -> None:
    killed(tmp_path, kills=50, workers=workers, count=10)
