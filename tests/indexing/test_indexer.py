"""Bringing a corpus up to date: whatever people do to files, it ends with what the files hold."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexing.documents import NO_OCCASION, Document, Occasion, Passage
from indexing.encoder.encoder import Encoder
from indexing.encoder.lookahead import Encoding, Lookahead
from indexing.encoder.settings import EncoderSettings
from indexing.errors import WorkersLost
from indexing.files import document
from indexing.index_report import IndexReport, Progress
from indexing.indexer import Indexer
from indexing.reencoding import reencode
from indexing.store.database import Database
from indexing.store.file_states import FileStates
from indexing.store.repair.verification import verify
from indexing.store.store import Store
from indexing.store.view import StoreView
from tests.reading import READER, read

A, B, C = ("The lake is deep.", "The price is low.", "Ana asked for a rubber case.")


class Desk:
    """A folder of files and the corpus made of it."""

    def __init__(self, folder: Path, encoder: Encoder) -> None:
        self.files = folder / "files"
        self.files.mkdir()
        self.store = Store(folder / "corpus", create=True)
        self.store.set_fingerprint(encoder.fingerprint)
        self.encoder = encoder

    def write(self, name: str, text: str) -> Path:
        path = self.files / name
        path.write_text(text, encoding="utf-8")
        return path

    def meetings(self, name: str, said: dict[str, str]) -> Path:
        lines = [
            json.dumps({"id": id_, "meeting_transcripts": [{"speaker": "Ana", "content": words}]})
            for id_, words in said.items()
        ]
        return self.write(name, "\n".join(lines))

    def index(self, *names: str, collection: str = "default") -> IndexReport:
        """Index the whole folder, or some of it."""
        indexer = Indexer(self.store, lambda: self.encoder, reader=READER, collection=collection)
        return indexer.add([self.files / name for name in names] or [self.files])

    def held(self) -> dict[tuple[str, str], str]:
        """The text of each file and part, as the corpus has it."""
        documents = [self.store.document(entry.id) for entry in self.store.entries()]
        places = {(Path(one.path).name, one.part): one.text for one in documents}
        assert len(places) == len(documents)
        return places

    def ids(self) -> dict[str, str]:
        return {Path(entry.path).name: entry.id for entry in self.store.entries()}

    def settled(self) -> bool:
        """Whether there is nothing left to do."""
        last = self.index()
        return not (last.added or last.updated or last.moved or last.removed)


@pytest.fixture
def desk(tmp_path: Path, encoder: Encoder) -> Desk:
    return Desk(tmp_path, encoder)


def counts(report: IndexReport) -> dict[str, int]:
    """What a report counts, without what is zero."""
    found = {
        "added": len(report.added),
        "updated": len(report.updated),
        "unchanged": report.unchanged,
        "moved": len(report.moved),
        "removed": len(report.removed),
        "duplicates": len(report.duplicates),
        "failures": len(report.failures),
    }
    return {name: count for name, count in found.items() if count}


# ---- one file ----


def test_added_then_unchanged(desk: Desk) -> None:
    desk.write("a.txt", A)
    desk.write("b.txt", B)
    report = desk.index()
    assert counts(report) == {"added": 2} and report.tokens > 0
    assert desk.held() == {("a.txt", ""): A, ("b.txt", ""): B}
    report = desk.index()
    assert counts(report) == {"unchanged": 2} and report.tokens == 0


def test_updated_in_place(desk: Desk) -> None:
    desk.write("a.txt", A)
    desk.index()
    ids = desk.ids()
    desk.write("a.txt", A + " Very deep.")
    report = desk.index()
    assert counts(report) == {"updated": 1} and report.updated == (ids["a.txt"],)
    assert desk.held() == {("a.txt", ""): A + " Very deep."} and desk.ids() == ids


def test_a_new_time_stamp_alone_encodes_nothing(desk: Desk) -> None:
    path = desk.write("a.txt", A)
    desk.index()
    os.utime(path, ns=(1, 1))
    report = desk.index()
    assert counts(report) == {"unchanged": 1} and report.tokens == 0
    generation = desk.store.generation
    assert counts(desk.index()) == {"unchanged": 1} and desk.store.generation == generation


def test_a_new_title_alone_encodes_nothing(desk: Desk) -> None:
    page = "<html><head><title>{}</title></head><body><p>The lake is deep.</p></body></html>"
    desk.write("a.html", page.format("Lakes"))
    desk.index()
    desk.write("a.html", page.format("Deep lakes"))
    report = desk.index()
    assert counts(report) == {"moved": 1} and report.tokens == 0
    assert [entry.title for entry in desk.store.entries()] == ["Deep lakes"]


def test_a_date_alone_encodes_nothing(desk: Desk) -> None:
    """Dates of files that were indexed before there were any come with the next run."""
    desk.write("2026-03-14_standup.txt", A)
    (id_,) = desk.index().added
    desk.store.move(replace(desk.store.identities()[0], occasion=NO_OCCASION))
    os.utime(desk.files / "2026-03-14_standup.txt", (1, 1))
    last = desk.index()
    assert (last.moved, last.tokens) == ((id_,), 0)
    assert desk.store.document(id_).occasion == Occasion("2026-03-14", "file name")
    assert desk.settled()


def test_names_of_speakers_survive_an_edit(desk: Desk) -> None:
    lines = ["S1: The lake is deep.", "S2: The price is low.", "S1: It is.", "S2: So it is."]
    desk.write("meeting.txt", "\n".join(lines))
    (id_,) = desk.index().added
    desk.store.name_speakers({id_: {"S1": "Ada Park", "S2": "Bob"}})
    desk.write("meeting.txt", "\n".join([*lines, "S1: Now it is over.", "S3: Bye."]))
    assert desk.index().updated == (id_,)
    assert desk.store.document(id_).speakers == ("Ada Park", "Bob", "S3")
    assert desk.settled()


def test_what_cannot_be_read_any_more_keeps_its_last_version(desk: Desk) -> None:
    desk.write("a.html", f"<p>{A}</p>")
    desk.write("b.txt", B)
    desk.index()
    desk.write("a.html", "")
    (desk.files / "b.txt").write_bytes(b"\x00\x01\x02\x03" * 500)
    for _ in range(2):  # and it is said every time
        report = desk.index()
        assert counts(report) == {"failures": 2}
        assert {Path(one.path).name for one in report.failures} == {"a.html", "b.txt"}
        assert set(desk.held().values()) == {A, B}
    desk.write("a.html", f"<p>{A} More.</p>")
    desk.write("b.txt", B)
    assert counts(desk.index()) == {"updated": 1, "unchanged": 1}


@pytest.mark.parametrize("text", ["... --- !!!", "\u200b\u200b", "\U0001f600\U0001f600"])
def test_text_without_a_word_is_reported(text: str, desk: Desk) -> None:
    """And does not stop the files beside it."""
    desk.write("a.txt", A)
    desk.write("b.txt", text)
    desk.write("c.txt", C)
    report = desk.index()
    assert counts(report) == {"added": 2, "failures": 1}
    assert "b.txt: holds no letter and no digit" in str(report.failures[0])
    desk.write("a.txt", text)  # nor does it take away what was there
    assert counts(desk.index()) == {"failures": 2, "unchanged": 1}
    assert ("a.txt", "") in desk.held()


def test_one_word_is_a_document(desk: Desk) -> None:
    desk.write("a.txt", "probe")
    assert counts(desk.index()) == {"added": 1}
    assert desk.store.entries()[0].passages == 1


def test_odd_names_and_titles(desk: Desk) -> None:
    names = ["a'b\"c;--.txt", "ü 東京 \U0001f600.txt", "100% _x_.txt", "new\nline.txt", "-k.txt"]
    for at, name in enumerate(names):
        desk.write(name, f"{A} Number {at}.")
    assert counts(desk.index()) == {"added": 5}
    assert {name for name, _ in desk.held()} == set(names)
    assert counts(desk.index()) == {"unchanged": 5}


# ---- copies and moves ----


def test_two_equal_files(desk: Desk) -> None:
    desk.write("a.txt", A)
    desk.write("b.txt", A)
    for expected in ({"added": 1, "duplicates": 1}, {"unchanged": 1, "duplicates": 1}):
        report = desk.index()
        assert counts(report) == expected
        assert "b.txt: same content as" in str(report.duplicates[0])
    desk.write("a.txt", C)  # then it is a copy no more
    assert counts(desk.index()) == {"updated": 1, "added": 1}
    assert desk.held() == {("a.txt", ""): C, ("b.txt", ""): A}


def test_new_time_stamps_do_not_double_a_copy(desk: Desk) -> None:
    """A fresh clone of a repository has them. The first by name is not the one that was kept."""
    path = desk.write("b.txt", A)
    desk.index()
    copy = desk.write("a.txt", A)
    for file in (path, copy):
        os.utime(file, ns=(5, 5))
    assert counts(desk.index()) == {"unchanged": 1, "duplicates": 1}
    assert desk.held() == {("b.txt", ""): A}


def test_a_file_that_becomes_a_copy_is_held_no_more(desk: Desk) -> None:
    """What the corpus had of it is in no file any more, so nothing may cite it."""
    desk.write("a.txt", A)
    desk.write("b.txt", B)
    desk.index()
    desk.write("b.txt", A)
    assert counts(desk.index()) == {"unchanged": 1, "duplicates": 1, "removed": 1}
    assert desk.held() == {("a.txt", ""): A}
    (desk.files / "a.txt").unlink()
    assert counts(desk.index()) == {"moved": 1}
    assert desk.held() == {("b.txt", ""): A}


@pytest.mark.parametrize("new", ["0.txt", "z.txt"])
def test_renamed(new: str, desk: Desk) -> None:
    path = desk.write("m.txt", A)
    desk.index()
    (id_,) = desk.ids().values()
    path.rename(desk.files / new)
    report = desk.index()
    assert counts(report) == {"moved": 1} and report.tokens == 0
    assert desk.ids() == {new: id_}
    assert desk.store.entries()[0].title == Path(new).stem
    desk.write(new, B)  # the id stays when it changes at its new place
    assert counts(desk.index()) == {"updated": 1} and desk.ids() == {new: id_}


@pytest.mark.parametrize("new", ["0.txt", "z.txt"])
def test_renamed_and_another_written_in_its_place(new: str, desk: Desk) -> None:
    path = desk.write("m.txt", A)
    desk.index()
    path.rename(desk.files / new)
    desk.write("m.txt", C)
    report = desk.index()
    assert desk.held() == {(new, ""): A, ("m.txt", ""): C}
    assert not report.duplicates and not report.removed and desk.settled()


def test_renamed_and_later_another_written_in_its_place(desk: Desk) -> None:
    """The moved document keeps its id, so the new one must get another."""
    path = desk.write("m.txt", A)
    desk.index()
    path.rename(desk.files / "z.txt")
    desk.index()
    kept = desk.ids()["z.txt"]
    desk.write("m.txt", C)
    assert counts(desk.index()) == {"added": 1, "unchanged": 1}
    assert desk.held() == {("z.txt", ""): A, ("m.txt", ""): C}
    assert desk.ids()["z.txt"] == kept != desk.ids()["m.txt"]
    desk.write("m.txt", B)
    assert counts(desk.index()) == {"updated": 1, "unchanged": 1}


def test_swapped(desk: Desk) -> None:
    desk.write("a.txt", A)
    desk.write("b.txt", B)
    desk.index()
    desk.write("a.txt", B)
    desk.write("b.txt", A)
    report = desk.index()
    assert desk.held() == {("a.txt", ""): B, ("b.txt", ""): A}
    assert not report.duplicates and desk.settled()


def test_passed_round(desk: Desk) -> None:
    for name, text in zip("abc", (A, B, C), strict=True):
        desk.write(f"{name}.txt", text)
    desk.index()
    for name, text in zip("abc", (B, C, A), strict=True):
        desk.write(f"{name}.txt", text)
    desk.index()
    assert desk.held() == {("a.txt", ""): B, ("b.txt", ""): C, ("c.txt", ""): A}
    assert desk.settled()


def test_renamed_over_another(desk: Desk) -> None:
    path = desk.write("a.txt", A)
    desk.write("b.txt", B)
    desk.index()
    path.replace(desk.files / "b.txt")
    assert counts(desk.index()) == {"moved": 1, "removed": 1}
    assert desk.held() == {("b.txt", ""): A} and desk.settled()


def test_only_what_is_named_is_looked_at(desk: Desk) -> None:
    desk.write("a.txt", A)
    desk.write("b.txt", B)
    desk.index()
    desk.write("a.txt", C)
    desk.write("b.txt", A)
    assert counts(desk.index("b.txt")) == {"updated": 1}  # no copy: the other is another now
    assert desk.held() == {("a.txt", ""): A, ("b.txt", ""): A}
    assert counts(desk.index()) == {"unchanged": 1, "updated": 1}
    assert desk.held() == {("a.txt", ""): C, ("b.txt", ""): A}


# ---- files of many documents ----


def test_meetings_that_leave_come_and_change(desk: Desk) -> None:
    said = {f"m{number}": f"We met for the {number}th time." for number in range(4)}
    desk.meetings("all.jsonl", said)
    assert counts(desk.index()) == {"added": 4}
    del said["m1"]
    said["m2"] = "Nobody came."
    said["m9"] = "Everybody came."
    desk.meetings("all.jsonl", said)
    assert counts(desk.index()) == {"unchanged": 2, "updated": 1, "added": 1, "removed": 1}
    assert desk.held() == {("all.jsonl", name): f"Ana: {words}" for name, words in said.items()}
    assert counts(desk.index()) == {"unchanged": 4}


def test_a_meeting_with_another_name(desk: Desk) -> None:
    desk.meetings("all.jsonl", {"one": A, "two": B})
    desk.index()
    desk.meetings("all.jsonl", {"one": A, "three": B})
    report = desk.index()
    assert counts(report) == {"unchanged": 1, "moved": 1} and report.tokens == 0
    assert {part for _, part in desk.held()} == {"one", "three"}
    assert desk.settled()


def test_meetings_without_names_move_up(desk: Desk) -> None:
    """Their parts are line numbers; each content must be kept when the first goes."""
    lines = [
        json.dumps({"meeting_transcripts": [{"speaker": "", "content": one}]}) for one in "xyz"
    ]
    path = desk.write("all.jsonl", "\n".join(lines))
    desk.index()
    path.write_text("\n".join(lines[1:]))
    desk.index()
    assert sorted(desk.held().values()) == [": y", ": z"] and desk.settled()


def test_meetings_of_equal_content(desk: Desk) -> None:
    desk.meetings("all.jsonl", {"one": A, "two": A, "three": B})
    assert counts(desk.index()) == {"added": 2, "duplicates": 1}
    assert {part for _, part in desk.held()} == {"one", "three"}


def test_a_damaged_line_takes_nothing_away(desk: Desk) -> None:
    path = desk.meetings("all.jsonl", {"one": A, "two": B})
    desk.index()
    first, second = path.read_text().split("\n")
    path.write_text(f"{first}\n{second[:-9]}")
    assert counts(desk.index()) == {"unchanged": 1, "failures": 1}
    assert {part for _, part in desk.held()} == {"one", "two"}
    assert counts(desk.index()) == {"unchanged": 1, "failures": 1}  # it is read again


def test_a_meeting_that_moves_to_another_file(desk: Desk) -> None:
    desk.meetings("a.jsonl", {"one": A, "two": B})
    desk.index()
    desk.meetings("a.jsonl", {"one": A})
    desk.meetings("b.jsonl", {"two": B})
    report = desk.index()
    assert desk.held() == {("a.jsonl", "one"): f"Ana: {A}", ("b.jsonl", "two"): f"Ana: {B}"}
    assert not report.duplicates and desk.settled()


# ---- any order of anything ----


def _shuffle(desk: Desk, draw: random.Random, texts: Sequence[str]) -> None:
    """One of the things that people do to files."""
    names = ["a.txt", "b.txt", "c.txt", "d.txt"]
    there = [name for name in names if (desk.files / name).exists()]
    deed = draw.choice(["write", "write", "rename", "copy", "touch", "delete"])
    if deed == "write" or not there:
        desk.write(draw.choice(names), draw.choice(texts))
    elif deed == "rename":
        (desk.files / draw.choice(there)).replace(desk.files / draw.choice(names))
    elif deed == "copy":
        source, target = desk.files / draw.choice(there), desk.files / draw.choice(names)
        if source != target:
            shutil.copyfile(source, target)
    elif deed == "touch":
        os.utime(desk.files / draw.choice(there), ns=(draw.randrange(10**9), draw.randrange(10**9)))
    else:
        (desk.files / draw.choice(there)).unlink()


@pytest.mark.parametrize("seed", range(12))
def test_one_run_always_settles_it(seed: int, desk: Desk) -> None:
    """After any deeds, one run: every content there is held once, at a place that has it."""
    draw = random.Random(seed)
    texts = [f"Number {number} fell." for number in range(4)]
    for round_ in range(6):
        for _ in range(draw.randint(1, 4)):
            _shuffle(desk, draw, texts)
        files = {file.name: file.read_text() for file in desk.files.iterdir()}
        if not files:
            continue
        desk.index()
        held = {name: text for (name, _), text in desk.held().items()}
        there = {name: text for name, text in held.items() if name in files}
        assert all(files[name] == text for name, text in there.items()), (round_, files, held)
        assert set(there.values()) == set(files.values()), (round_, files, held)
        assert len(set(there.values())) == len(there), (round_, files, held)
        assert desk.settled()


# ---- collections ----


def places(store: StoreView) -> set[tuple[str, str, str, str]]:
    """File, part, title and text of every document of a store."""
    documents = [store.document(one.id) for one in store.identities()]
    return {(Path(one.path).name, one.part, one.title, one.text) for one in documents}


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_collections_are_like_corpora_of_their_own(
    seed: int, tmp_path: Path, encoder: Encoder
) -> None:
    """Each holds what a corpus holds that was indexed at the same times, whatever others hold."""
    draw, texts = random.Random(seed), [f"Number {number} fell." for number in range(4)]
    desk = Desk(tmp_path, encoder)
    alone: dict[str, Desk] = {}
    for name in ("one", "two", "default"):
        (tmp_path / name).mkdir()
        alone[name] = Desk(tmp_path / name, encoder)
        alone[name].files = desk.files
    for _ in range(8):
        for _ in range(draw.randint(1, 3)):
            _shuffle(desk, draw, texts)
        for name in draw.sample([*alone], draw.randint(1, 3)):
            if any(desk.files.iterdir()):
                desk.index(collection=name)
                alone[name].index()
        for name, other in alone.items():
            assert places(desk.store.of(name)) == places(other.store)
        identities = desk.store.identities()
        assert len({one.digest for one in identities}) == len(identities), "each is encoded once"
        here = {one.id for name in alone for one in desk.store.of(name).identities()}
        assert here == {one.id for one in identities}, "none is left that nobody holds"
    assert verify(desk.store.database) == []


def test_the_same_file_in_two_collections_is_encoded_once(desk: Desk) -> None:
    desk.write("a.txt", A)
    (id_,) = desk.index(collection="one").added
    report = desk.index(collection="two")
    assert (report.added, report.reused, report.tokens) == ((id_,), (id_,), 0)
    assert desk.index(collection="two").unchanged == 1
    desk.write("a.txt", B)
    assert desk.index(collection="one").updated != (id_,)
    assert places(desk.store.of("one")) == {("a.txt", "", "a", B)}
    assert places(desk.store.of("two")) == {("a.txt", "", "a", A)}, "as it was when it was indexed"
    report = desk.index(collection="two")
    assert (len(report.reused), report.removed, report.tokens) == (1, (id_,), 0)
    assert len(desk.store.identities()) == 1


@pytest.mark.parametrize(
    ("part", "step"), [(Store, "put"), (Store, "leave"), (FileStates, "remember")]
)
def test_a_run_that_breaks_off_harms_no_other_collection(
    part: type, step: str, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of two collections has changed; the run for one ends before any of its commits."""
    desk.write("a.txt", A)
    for name in ("one", "two"):
        desk.index(collection=name)
    desk.write("a.txt", B)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(part, step, interrupt)
        desk.index(collection="one")
    assert places(desk.store.of("two")) == {("a.txt", "", "a", A)}
    assert verify(desk.store.database) == []
    desk.index(collection="one")
    assert places(desk.store.of("one")) == {("a.txt", "", "a", B)}
    assert places(desk.store.of("two")) == {("a.txt", "", "a", A)}
    assert len(desk.store.identities()) == 2


def test_each_collection_calls_a_document_by_its_own_file(desk: Desk) -> None:
    desk.write("a.txt", A)
    desk.write("b.txt", A)
    desk.index("a.txt", collection="one")
    desk.index("b.txt", collection="two")
    assert [one.title for one in desk.store.entries()] == ["a"]
    assert places(desk.store.of("two")) == {("b.txt", "", "b", A)}
    desk.write("b.txt", C)
    desk.index("b.txt", collection="two")
    assert places(desk.store.of("two")) == {("b.txt", "", "b", C)}
    assert places(desk.store.of("one")) == {("a.txt", "", "a", A)}


# ---- documents that are no files ----


def test_texts_under_names(desk: Desk) -> None:
    def add(*named: tuple[str, str]) -> dict[str, int]:
        indexer = Indexer(desk.store, lambda: desk.encoder)
        return counts(indexer.add_documents([document(text, name=name) for name, text in named]))

    assert add(("one", A), ("two", B), ("three", A)) == {"added": 2, "duplicates": 1}
    assert add(("one", A)) == {"unchanged": 1}
    assert add(("one", C)) == {"updated": 1}
    assert add(("two", C)) == {"duplicates": 1, "removed": 1}
    assert desk.held() == {("one", ""): C}


def test_an_edit_that_keeps_size_and_time_is_seen_by_a_recheck(desk: Desk) -> None:
    path, other = desk.write("a.txt", A), desk.write("b.txt", B)
    desk.index()
    before = path.stat()
    path.write_text(A.replace("deep", "cold"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert desk.index().unchanged == 2  # as documented: size and time decide
    indexer = Indexer(desk.store, lambda: desk.encoder, recheck=True)
    report = indexer.add([desk.files])
    assert (len(report.updated), report.unchanged) == (1, 1)
    assert desk.held()["a.txt", ""] == A.replace("deep", "cold")
    assert other.exists() and desk.index().unchanged == 2


# ---- progress ----


def test_progress_rises_to_the_end(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("indexing.encoder.encoder.TOKENS_PER_BATCH", 130)
    for at in range(2):
        desk.write(f"{at}.txt", f"{A} {at}. " * 60)
    desk.write("bad.txt", "")
    seen: list[Progress] = []
    Indexer(desk.store, lambda: desk.encoder, seen.append).add([desk.files])
    done = [each.done for each in seen]
    assert done == sorted(done) and done[-1] == pytest.approx(seen[-1].total)
    assert seen[-1].total == sum(file.stat().st_size for file in desk.files.iterdir())
    assert len(set(done)) > 4 and seen[-1].tokens > 0


# ---- encoding again ----


def test_encoding_anew_goes_on_where_it_stopped(desk: Desk) -> None:
    for at in range(4):
        desk.write(f"{at}.txt", f"{A} Number {at}. " * 20)
    desk.index()
    other = Encoder(EncoderSettings(dtype="float32", max_length=32))
    before = [vectors[1] for vectors in desk.store.vectors()]

    class Stop(Exception):
        pass

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise Stop

    with pytest.raises(Stop):
        reencode(desk.store, other, progress=stop)
    assert desk.store.fingerprint() == desk.encoder.fingerprint
    assert all(
        np.array_equal(one, two[1]) for one, two in zip(before, desk.store.vectors(), strict=True)
    )
    assert reencode(desk.store, other) == 2
    assert desk.store.fingerprint() == other.fingerprint
    for (_, whole, parts), entry in zip(desk.store.vectors(), desk.store.entries(), strict=True):
        one = desk.store.document(entry.id)
        (expected,) = other.encode([(one, desk.store.passages_of(entry.id))])
        assert np.array_equal(whole, expected.vector)
        assert np.array_equal(parts, expected.passages)
    assert reencode(desk.store, desk.encoder) == 4  # and back
    assert np.array_equal(next(desk.store.vectors())[1], before[0])


def test_files_are_read_as_by_the_loaders(desk: Desk) -> None:
    """What is committed is what `read` gives, in full."""
    path = desk.write("talk.txt", f"Ana: {A}\nBob: {B}\nAna: {C}\n")
    desk.index()
    (expected,) = read(path)
    assert isinstance(expected, Document) and expected.utterances
    assert desk.store.document(expected.id) == expected


def peak_of(work: Callable[[], object]) -> float:
    """How many MiB the process grew by at most, by looking on from another thread."""
    import threading

    import psutil

    process, stop = psutil.Process(), threading.Event()
    start = highest = process.memory_info().rss

    def look() -> None:
        nonlocal highest
        while not stop.wait(0.01):
            highest = max(highest, process.memory_info().rss)

    looking = threading.Thread(target=look)
    looking.start()
    work()
    stop.set()
    looking.join()
    return (highest - start) / 2**20


def test_a_long_text_is_tokenised_in_flat_memory(desk: Desk) -> None:
    """At once it would take 160 bytes for each of these characters."""
    text = " ".join(f"The probe number {n} fell into lake {n % 7}." for n in range(40_000))
    assert peak_of(lambda: desk.encoder._tokens.ids(text)) < 60 * len(text) / 2**20


def test_nothing_to_do_takes_as_many_queries_however_many_files(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    rows = Database.rows

    def counting(self: Database, *args: Any) -> list[Any]:
        counted[-1] += 1
        return rows(self, *args)

    monkeypatch.setattr(Database, "rows", counting)
    for count in (3, 12):
        for number in range(count):
            desk.write(f"{number}.txt", f"{A} {number}.")
        counted.append(0)
        desk.index()
        counted.append(0)
        assert desk.index().unchanged == count
    assert counted[1] == counted[3]


def test_files_of_a_folder_are_looked_at_once(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        desk.write(f"{number}.txt", f"{A} {number}.")
    desk.index()
    looks: Counter[str] = Counter()
    stat = Path.stat

    def counting(self: Path, **options: bool) -> os.stat_result:
        looks[self.name] += 1
        return stat(self, **options)

    monkeypatch.setattr(Path, "stat", counting)
    assert desk.index().unchanged == 5
    assert [looks[f"{number}.txt"] for number in range(5)] == [2, 1, 1, 1, 1]  # one to enter


def test_a_file_that_goes_while_folders_are_walked_is_none(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a.txt", "b.txt"):
        desk.write(name, f"{A} {name}.")

    def misnamed(path: Path) -> None:
        if path.name == "b.txt":
            path.unlink()

    monkeypatch.setattr("indexing.walk._misnamed", misnamed)
    report = desk.index()
    assert len(report.added) == 1 and not report.failures


def test_what_workers_encode_ahead_ends_as_what_is_encoded_one_by_one(
    tmp_path: Path, encoder: Encoder
) -> None:
    """Copies, changes, moves and several documents in a file, with documents in the works."""
    (tmp_path / "one").mkdir()
    (tmp_path / "many").mkdir()
    alone, ahead = Desk(tmp_path / "one", encoder), Desk(tmp_path / "many", encoder)
    begun = list[str]()
    pool = ThreadPoolExecutor(3)

    def begin(one: Document, passages: Sequence[Passage]) -> Callable[[], Encoding]:
        begun.append(one.text)
        task = pool.submit(encoder.encode, [(one, passages)])
        return lambda: Encoding(task.result()[0], 1)

    def index_ahead() -> None:
        lookahead = Lookahead(encoder.fingerprint, begin, lambda: 3)
        report = Indexer(ahead.store, lambda: lookahead, ahead=lambda: lookahead).add([ahead.files])
        assert not report.failures

    def change(desk: Desk) -> None:
        desk.write("b.txt", f"{B} It was higher before.")
        (desk.files / "a.txt").rename(desk.files / "z.txt")
        desk.meetings("more.jsonl", {f"m{n}": f"Number {n} was read out." for n in range(20)})

    for desk in (alone, ahead):
        for name, text in {"a.txt": A, "b.txt": B, "c.txt": A, "d.txt": C}.items():
            desk.write(name, text)
        desk.meetings("all.jsonl", {f"n{n}": f"Item {n} was agreed." for n in range(20)})
    for step in (lambda _: None, change):
        for desk in (alone, ahead):
            step(desk)
        alone.index()
        index_ahead()
        assert ahead.held() == alone.held()
        assert len(begun) == len(set(begun))
        for id_ in ahead.ids().values():
            text = ahead.store.document(id_).text
            (same,) = (
                one.id for one in alone.store.entries() if alone.store.document(one.id).text == text
            )
            np.testing.assert_array_equal(
                ahead.store.passage_vectors_of(id_), alone.store.passage_vectors_of(same)
            )
    before = len(begun)
    index_ahead()
    assert len(begun) == before
    other = replace(encoder.fingerprint, revision="2")
    lookahead = Lookahead(other, begin, lambda: 3)
    assert reencode(ahead.store, lookahead) == len(ahead.store.entries())
    assert ahead.store.fingerprint() == other
    pool.shutdown()


def test_a_document_at_which_workers_die_is_a_failure_and_the_others_go_on(desk: Desk) -> None:
    def begin(one: Document, passages: Sequence[Passage]) -> Callable[[], Encoding]:
        def end() -> Encoding:
            if one.text.strip() == B:
                raise WorkersLost(one.title, 9)
            return Encoding(desk.encoder.encode([(one, passages)])[0], 1)

        return end

    for name, text in {"a.txt": A, "b.txt": B, "c.txt": C}.items():
        desk.write(name, text)
    ahead = Lookahead(desk.encoder.fingerprint, begin, lambda: 2)
    for unchanged in (0, 2):
        report = Indexer(desk.store, lambda: ahead, ahead=lambda: ahead).add([desk.files])
        (failure,) = report.failures
        assert failure.path.endswith("b.txt") and "9 workers" in failure.reason
        assert report.unchanged == unchanged and set(desk.ids()) == {"a.txt", "c.txt"}
    assert desk.index().unchanged == 2 and len(desk.ids()) == 3
