"""The register of a corpus: limits, what somebody may read, the command, and questions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from generator.overview.commitments import KINDS
from generator.register.entry import STATES, Register
from indexing.encoder.encoder import Encoder
from indexing.errors import CollectionNotFound, InvalidRequest
from indexing.filter import Filter, Scope
from rag_app.cli.documents.register import KINDS as SHOWN_KINDS
from rag_app.cli.documents.register import STATES as SHOWN_STATES
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

FILES = {
    "2026-01-12_board.txt": "Maren Osei: I'll write the letter to Ellmere by Friday.\n"
    "Bo Stone: It was agreed that the shed gets tiles.\nMaren Osei: Bo will order the paint.\n",
    "2026-02-09_board.txt": "Bo Stone: The letter to Ellmere has been written.\n"
    "Maren Osei: Thank you.\nBo Stone: What about the visitors?\n"
    "Maren Osei: It remains open whether the insurance covers visitors.\n",
    "story.txt": "Once upon a time the two of us decided to sail to the moon, and we went.\n",
}
SECRET = {
    "2026-02-20_secret.txt": "Ines Duarte: We agreed to sell the meadow.\n"
    "Kai Berg: Good.\nInes Duarte: The paint was ordered by Bo.\n",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    folder = tmp_path_factory.mktemp("register")
    for name, text in (FILES | SECRET).items():
        (folder / name).write_text(text)
    with Corpus(folder / "corpus", encoder=encoder) as corpus:
        corpus.add([folder / name for name in FILES])
        corpus.collections.create("board", owner="ines")
        corpus.add([folder / name for name in SECRET], collection="board")
        yield corpus


def run(corpus: Corpus, *words: str) -> Result:
    return CliRunner().invoke(main, ["register", *words, "--corpus", str(corpus.folder)])


def said(found: Register) -> list[str]:
    return [matter.entries[0].quote.text for matter in found]


LETTER = "I'll write the letter to Ellmere by Friday."
TILES = "It was agreed that the shed gets tiles."
PAINT = "Bo will order the paint."
COVER = "It remains open whether the insurance covers visitors."
MEADOW = "We agreed to sell the meadow."


def test_limits(corpus: Corpus) -> None:
    assert said(corpus.register()) == [LETTER, TILES, PAINT, COVER, MEADOW]
    assert said(corpus.register(kind="action")) == [LETTER, PAINT]
    assert said(corpus.register(kind=("decision", "question"))) == [TILES, COVER, MEADOW]
    assert said(corpus.register(person="maren")) == [LETTER, COVER]
    assert said(corpus.register(person="Stone", kind="action")) == [PAINT]
    assert said(corpus.register(state="done")) == [LETTER, PAINT]
    assert said(corpus.register(state="open")) == [TILES, COVER, MEADOW]
    assert said(corpus.register(where=Filter(since="2026-02"))) == [LETTER, PAINT, COVER, MEADOW]
    assert said(corpus.register(where=Filter(until="2026-01"))) == [LETTER, TILES, PAINT]
    assert said(corpus.register(where=Filter(participants=("Ines",)))) == [PAINT, MEADOW]
    assert said(corpus.register(where=Filter(collections=("board",)))) == [MEADOW]
    assert (corpus.register().meetings, corpus.register().undated) == (3, 0)


def test_what_is_no_kind_or_state_or_collection_is_refused(corpus: Corpus) -> None:
    with pytest.raises(InvalidRequest, match="none of decision, action, question"):
        corpus.register(kind="task")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="none of open"):
        corpus.register(state="late")  # type: ignore[arg-type]
    with pytest.raises(CollectionNotFound):
        corpus.register(where=Filter(collections=("no-such",)))


def test_everybody_gets_only_what_they_may_read(corpus: Corpus) -> None:
    bob, ines = (corpus.seen_by(Scope(name)) for name in ("bob", "ines"))
    assert said(ines.register()) == said(corpus.register())
    assert said(bob.register()) == [LETTER, TILES, PAINT, COVER]
    (paint,) = (one for one in bob.register() if one.entries[0].quote.text == PAINT)
    assert (paint.state, len(paint.entries)) == ("open", 1)  # who ordered it, he may not read
    (paint,) = (one for one in ines.register() if one.entries[0].quote.text == PAINT)
    assert paint.state == "done"
    answer = bob.ask("What are all the decisions?")
    assert "tiles" in answer.text and "meadow" not in answer.text


def test_progress_counts_documents(corpus: Corpus) -> None:
    seen: list[tuple[int, int]] = []
    corpus.register(progress=lambda done, total: seen.append((done, total)))
    assert seen == [(number, 4) for number in range(4)]


def test_the_command_prints_quotes_with_their_meetings(corpus: Corpus) -> None:
    done = run(corpus, "--person", "Maren", "--kind", "action")
    (matter,) = corpus.register(person="Maren", kind="action")
    assert done.exit_code == 0
    head, *lines = done.output.splitlines()
    assert head == f"{matter.id}  action, done, Maren Osei, by Friday (2026-01-16)"
    assert lines == [
        f"    {LETTER}",
        "    open, 2026-01-12_board, 2026-01-12, Maren Osei",
        "    The letter to Ellmere has been written.",
        "    done, 2026-02-09_board, 2026-02-09, Bo Stone",
        "1 matter of 3 meetings",
    ]
    values = json.loads(run(corpus, "--json").output)
    assert [one["id"] for one in values["matters"]] == [one.id for one in corpus.register()]
    entry = values["matters"][0]["entries"][0]
    quote = entry["quote"]
    text = corpus.document(entry["document"]).text
    assert text[quote["start"] : quote["end"]] == quote["text"] == LETTER


def test_files_are_written_and_written_again(corpus: Corpus, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.csv", "a.md", "a.ics")]
    options = [
        str(word)
        for pair in zip(("--csv", "--markdown", "--ics"), files, strict=True)
        for word in pair
    ]
    for _ in range(2):
        done = run(corpus, *options)
        assert (done.exit_code, done.output) == (0, "")
        texts = [file.read_text("utf-8") for file in files]
        assert all("Ellmere" in text for text in texts)
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert run(corpus, "--csv", "-").output.splitlines()[0].startswith("id,matter,kind,state")
    (tmp_path / "own.csv.new").write_text("mine")
    assert run(corpus, "--csv", str(tmp_path / "own.csv")).exit_code == 0
    assert (tmp_path / "own.csv.new").read_text() == "mine"
    both = run(corpus, "--csv", "-", "--json")
    assert both.exit_code == 1 and "--json prints already" in both.stderr
    refused = run(corpus, "--csv", str(tmp_path / "nowhere" / "a.csv"))
    assert refused.exit_code == 1 and "cannot be written" in refused.output


def test_help_names_every_kind_and_state() -> None:
    assert (tuple(SHOWN_KINDS), tuple(SHOWN_STATES)) == (KINDS, STATES)


@pytest.mark.parametrize(
    ("question", "quotes"),
    [
        ("What are all the action items assigned to Maren?", [LETTER, "The letter to Ellmere"]),
        ("List all open tasks of Bo", []),
        ("Which decisions were made in all meetings?", [TILES, MEADOW]),
        ("What is still open?", [COVER]),
        ("Welche Aufgaben hat Maren?", [LETTER, "The letter to Ellmere"]),
    ],
)
def test_questions_are_answered_from_it(corpus: Corpus, question: str, quotes: list[str]) -> None:
    answer = corpus.ask(question)
    if not quotes:  # the paint is ordered: nothing is to be listed, so it is looked up
        assert answer.kind == "question"
        return
    assert answer.kind == "decisions"
    assert len(answer.citations) == len(quotes)
    for citation, words in zip(answer.citations, quotes, strict=True):
        assert citation.verified and citation.quote.startswith(words)
        assert (
            corpus.document(citation.document).text[citation.start : citation.end] == citation.quote
        )


def test_an_answer_in_german_is_worded_in_german(corpus: Corpus) -> None:
    text = corpus.ask("Welche Aufgaben hat Maren?").text
    assert text.startswith("1 Sache aus 3 Besprechungen")
    assert "Zu tun, Maren Osei, by Friday (2026-01-16), erledigt" in text
