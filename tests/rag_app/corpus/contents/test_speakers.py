"""Speakers get names, and everything that names them follows; the file's words stay."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from indexing.encoder.encoder import Encoder
from indexing.errors import DocumentNotFound, InvalidRequest, SpeakerNotFound
from indexing.filter import Filter
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus

SAID = (
    ("SPEAKER_00", "We need a new mast before the flood comes in October."),
    ("SPEAKER_01", "The probe of the heron was made of cork, I believe."),
    ("SPEAKER_00", "So the mast is to be ordered by Friday."),
    ("SPEAKER_02", "I will order the mast."),
)


@pytest.fixture
def corpus(tmp_path: Path, encoder: Encoder) -> Iterator[Corpus]:
    for name, number in (("first", 0), ("second", 1)):
        segments = [
            {"start": 10.0 * at, "end": 10.0 * at + 5, "text": f" {words}", "speaker": who}
            for at, (who, words) in enumerate(SAID)
        ]
        segments[0]["text"] = f" This is meeting {number}. {SAID[0][1]}"
        (tmp_path / f"{name}.json").write_text(json.dumps({"segments": segments}))
    with Corpus(tmp_path / "corpus", encoder=encoder) as corpus:
        corpus.add([tmp_path / "first.json", tmp_path / "second.json"])
        yield corpus


def names(corpus: Corpus, *documents: str) -> list[tuple[str, str]]:
    return [(one.label, one.name) for one in corpus.speakers.all(documents)]


def test_a_name_is_everywhere_and_the_text_stays(corpus: Corpus) -> None:
    before = corpus.document("first")
    assert names(corpus, "first")[0] == ("SPEAKER_00", "SPEAKER_00")
    changed = corpus.speakers.rename("SPEAKER_01", "Ada  Park", ["first"])
    assert {(one.title, one.name) for one in changed if one.label == "SPEAKER_01"} == {
        ("first", "Ada Park")
    }
    assert dict(names(corpus, "second"))["SPEAKER_01"] == "SPEAKER_01"
    after = corpus.document("first")
    assert (after.text, after.digest) == (before.text, before.digest)
    (hit,) = corpus.search("cork", where=Filter(speaker="ada park"))
    assert hit.title == "first"
    passage = hit.passages[0]
    assert "Ada Park" in passage.speakers and "SPEAKER_01" not in passage.speakers
    assert after.text[passage.start : passage.end] == passage.text
    assert corpus.search("cork", where=Filter(participants=("Ada Park",)))[0].title == "first"
    assert "Ada Park" in {one.name for one in corpus.overview("first").speakers}
    answer = corpus.ask("What was the probe of the heron made of?", where=Filter(("first",)))
    (citation, *_) = (*answer.citations, *answer.closest)
    assert citation.speaker == "Ada Park"
    assert after.text[citation.start : citation.end] == citation.quote
    assert corpus.verify().sound
    listed = corpus.ask("Who attended the meeting with Ada Park?")
    assert "Ada Park, " in listed.text and "first" in listed.text


def test_two_become_one_and_two_again(corpus: Corpus) -> None:
    corpus.speakers.rename("SPEAKER_01", "Ada", ["first"])
    corpus.speakers.rename("SPEAKER_02", "Ada", ["first"])
    about = corpus.overview("first")
    assert [one.name for one in about.speakers] == ["SPEAKER_00", "Ada"]
    assert about.speakers[1].utterances == 2
    assert names(corpus, "first")[1:] == [("SPEAKER_01", "Ada"), ("SPEAKER_02", "Ada")]
    corpus.speakers.rename("ada", "Ada Park", ["first"])  # both, in any case of letters
    assert {name for _, name in names(corpus, "first")} == {"SPEAKER_00", "Ada Park"}
    corpus.speakers.restore("SPEAKER_02", ["first"])
    assert names(corpus, "first")[1:] == [("SPEAKER_01", "Ada Park"), ("SPEAKER_02", "SPEAKER_02")]
    corpus.speakers.restore("Ada Park")
    assert all(label == name for label, name in names(corpus))
    assert corpus.verify().sound


def test_a_number_of_one_recording_is_somebody_else_in_another(corpus: Corpus) -> None:
    with pytest.raises(InvalidRequest, match="name the documents"):
        corpus.speakers.rename("SPEAKER_01", "Ada")
    assert all(label == name for label, name in names(corpus))
    corpus.speakers.rename("SPEAKER_01", "Ada P.", ["first", "second"])
    corpus.speakers.rename("Ada P.", "Ada Park")  # a name is one person's in all
    assert [name for label, name in names(corpus) if label == "SPEAKER_01"] == ["Ada Park"] * 2


def test_what_cannot_be(corpus: Corpus) -> None:
    with pytest.raises(SpeakerNotFound, match="rag-app speakers"):
        corpus.speakers.rename("Eve", "Ada")
    with pytest.raises(DocumentNotFound):
        corpus.speakers.rename("SPEAKER_01", "Ada", ["third"])
    for name in ("", " \n", "A" * 201):
        with pytest.raises(InvalidRequest, match="200"):
            corpus.speakers.rename("SPEAKER_01", name, ["first"])


def test_the_command_lists_renames_and_restores(corpus: Corpus) -> None:
    def run(*words: str) -> tuple[int, str]:
        where = ["--corpus", str(corpus.folder)]
        done = CliRunner().invoke(main, ["speakers", *words, *where])
        return done.exit_code, done.output

    status, said = run("first", "--rename", "SPEAKER_01", "Ada", "--rename", "SPEAKER_02", "Ada")
    assert status == 0 and "Ada  (in the file: SPEAKER_02)" in said and "2 speakers" in said
    status, said = run("--json")
    values = json.loads(said)
    assert status == 0 and len(values) == 6
    assert {one["name"] for one in values if one["title"] == "first"} == {"SPEAKER_00", "Ada"}
    assert values[0].keys() == {"document", "title", "label", "name", "words", "utterances"}
    assert run("--restore", "Ada")[0] == 0
    status, said = run("--rename", "SPEAKER_01", "Ada")
    assert status == 1 and "name the documents" in said
