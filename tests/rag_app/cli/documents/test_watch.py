"""`rag-app watch` as a process of its own: a line for each event, and Ctrl-C ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from rag_app.cli.documents.watch import show
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.watching.folder_watch import FolderEvent, FolderWatch
from tests.waiting import PATIENCE


def test_events_are_lines_of_json_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "mast.txt").write_text("The mast fell on Monday.")
    Image.new("L", (900, 900), 200).save(tmp_path / "in" / "scan.pdf")
    words = ["watch", "in", "--json", "--settle", "0", "--ocr", "off", "--corpus", "corpus"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rag_app", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first, second, third = (json.loads(process.stdout.readline()) for _ in range(3))
    assert (first["kind"], first["path"]) == ("watching", str(tmp_path / "in"))
    assert (second["kind"], second["title"]) == ("added", "mast")
    assert (third["kind"], third["remedy"]) == ("failed", "allow it with --ocr auto")
    (tmp_path / "in" / "mast.txt").unlink()
    assert json.loads(process.stdout.readline())["kind"] == "removed"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (130, "rag-app: stopped\n")


def test_a_new_place_is_a_line_with_its_quote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "meeting.txt"
    path.write_text("[00:00:01] Ada Park: Good morning.\n[00:00:04] Ada Park: Our budget is cut.\n")
    with Corpus(tmp_path / "corpus") as corpus:
        watch = FolderWatch(corpus, [tmp_path], settle=0, tell=["the budget"])
        event = next(each for each in watch.events() if each.kind == "told")
    show(event, as_json=False)
    show(event, as_json=True)
    head, quote, where, line = capsys.readouterr().out.splitlines()
    assert head == "told      the budget: 00:00:04, Ada Park, meeting, characters 56-74"
    assert (quote, where) == ('    "Our budget is cut."', f"    {path}")
    told = json.loads(line)
    assert (told["kind"], told["question"], told["title"]) == ("told", "the budget", "meeting")
    assert (told["citation"]["quote"], told["citation"]["time_seconds"]) == (
        "Our budget is cut.",
        4,
    )


def test_an_event_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    show(FolderEvent("added", "/in/a.txt", "12", "A\x1b title"), as_json=False)
    show(FolderEvent("failed", "/in/b", reason="is binary", remedy="remove it"), as_json=False)
    out, _ = capsys.readouterr()
    assert out == "added     A\\x1b title (/in/a.txt)\nfailed    /in/b: is binary; remove it\n"
