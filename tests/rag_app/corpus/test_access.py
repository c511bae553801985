"""What one person may see and change, by who owns and shares what."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.encoder.encoder import Encoder
from indexing.errors import CollectionNotFound, DocumentNotFound, InvalidRequest
from indexing.filter import Scope
from rag_app.corpus.access import Access
from rag_app.corpus.corpus import Corpus

OWNERS = {"default": None, "club": None, "ana": "ana", "bob": "bob"}
SHARED = {"bob"}
HELD = {"menu": ["default"], "plan": ["ana", "bob"], "diary": ["ana"], "rules": ["club", "bob"]}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, encoder: Encoder) -> Iterator[Corpus]:
    with Corpus(tmp_path_factory.mktemp("access") / "corpus", encoder=encoder) as corpus:
        for name, owner in OWNERS.items():
            if name != "default":
                corpus.collections.create(name, owner=owner, shared=name in SHARED)
        for title, names in HELD.items():
            for name in names:
                corpus.add_text(f"The {title} says it.", name=f"{name}/{title}", collection=name)
        yield corpus


def readable(name: str, person: str | None) -> bool:
    """The rule, said once more."""
    return person is None or OWNERS[name] in {None, person} or name in SHARED


@pytest.mark.parametrize("person", [None, "ana", "bob", "eve", ""])
def test_one_rule_for_lists_searches_and_changes(person: str | None, corpus: Corpus) -> None:
    access = Access(corpus, person)
    titles = {one.id: one.title.split("/")[-1] for one in corpus.documents()}
    seen = {title for title, names in HELD.items() if any(readable(n, person) for n in names)}
    assert {titles[id_] for id_ in access.visible()} == seen
    assert [one.name for one in access.collections()] == [
        name for name in OWNERS if readable(name, person)
    ]
    hits = access.seen.search("What does it say?", k=99)
    assert {titles[hit.document] for hit in hits} == seen
    for id_, title in titles.items():
        mine = [n for n in HELD[title] if person is None or OWNERS[n] in {None, person}]
        rest = [n for n in HELD[title] if n not in mine]
        removal = access.removal(id_)
        assert access.may_change(id_) == bool(mine)
        assert [one.name for one in removal.leaves] == mine
        assert [one.name for one in removal.keeps] == [n for n in rest if readable(n, person)]
        assert removal.others == len(rest) - len(removal.keeps)
        assert removal.removes == (not rest)
    assert access.may_change_collection("ana") == (person in {None, "ana"})
    assert not access.may_change_collection("nowhere")


def test_names_of_others_are_not_known(corpus: Corpus) -> None:
    eve = Access(corpus, "eve").seen
    for name in ("ana/diary", next(o.id for o in corpus.documents() if o.title == "ana/diary")):
        with pytest.raises(DocumentNotFound):
            eve.document(name)
        with pytest.raises(DocumentNotFound):
            eve.overview(name)
        with pytest.raises(DocumentNotFound):
            eve.search("diary", documents=[name])
    with pytest.raises(CollectionNotFound, match="default, club, bob"):
        eve.search("diary", collections=["ana"])
    assert eve.document("bob/plan").title == "bob/plan"
    assert corpus.document("ana/plan").id == eve.document("bob/plan").id
    assert {hit.title for hit in eve.search("plan")} == {
        "default/menu",
        "bob/plan",
        "club/rules",
    }


@pytest.mark.parametrize(
    "question",
    ["What documents do you have?", "Summarize ana/diary", "Which documents mention the diary?"],
)
def test_no_answer_tells_of_what_is_not_to_be_seen(question: str, corpus: Corpus) -> None:
    hers = corpus.seen_by(Scope("ana")).ask(question)
    assert "diary" in hers.text.replace("“diary”", "")
    answer = corpus.seen_by(Scope("eve")).ask(question)
    quoted = [one.title for one in (*answer.citations, *answer.closest)]
    assert "diary says" not in answer.text and "ana/" not in answer.text
    assert not [title for title in quoted if title.startswith("ana/")]


def test_who_sees_no_document_is_told_of_none(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path, encoder=encoder) as corpus:
        eve = Access(corpus, "eve")
        assert (eve.collections(), eve.visible()) == ([], frozenset())
        corpus.collections.create("ana", owner="ana")
        corpus.add_text("The mast fell.", name="log", collection="ana")
        assert eve.seen.search("Which mast fell?") == []
        assert eve.seen.ask("Which mast fell?").abstained
        assert eve.seen.ask("How many documents do you have?").text == "0 documents:"
        assert eve.visible() == frozenset()


def test_removing_takes_it_out_of_ones_own(tmp_path: Path, encoder: Encoder) -> None:
    with Corpus(tmp_path, encoder=encoder) as corpus:
        for name in ("ana", "bob"):
            corpus.collections.create(name, owner=name)
            corpus.add_text("The mast fell.", name=f"{name}/log", collection=name)
        (entry,) = corpus.documents()
        removal = Access(corpus, "ana").remove(entry.id)
        assert ([one.name for one in removal.leaves], removal.others) == (["ana"], 1)
        (left,) = corpus.documents()
        assert (left.id, left.title, left.collections) == (entry.id, "bob/log", ("bob",))
        assert Access(corpus, "bob").remove(entry.id).removes
        assert corpus.documents() == []


def test_what_is_added_for_somebody_stays_theirs(tmp_path: Path, encoder: Encoder) -> None:
    """Also where their collection is deleted just before."""
    file = tmp_path / "letter.txt"
    file.write_text("The letter is private.")
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([file], collection="ana", owner="ana")
        assert corpus.collections.named("ana").owner == "ana"
        assert Access(corpus, "bob").visible() == frozenset()
        with pytest.raises(InvalidRequest, match="belongs to somebody else"):
            corpus.add([file], collection="ana", owner="bob")
