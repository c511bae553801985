"""The folders of strangers are answered no worse than when their figures were written down."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.folders import command
from benchmarks.folders.grading import Share
from benchmarks.folders.questions import DEVELOPMENT

FIGURES = Path(__file__).with_name("figures.json")


@pytest.mark.slow  # 660 questions: ten minutes
def test_nothing_falls_by_more_than_its_interval() -> None:
    """Of the folders to develop on; what is withheld wrongly must not rise so either."""
    only = [part for name in DEVELOPMENT for part in ("--folder", name)]
    words = [sys.executable, "-m", "benchmarks", "folders", *only, "--json"]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)["groups"]["all"]
    for name, (count, of) in json.loads(FIGURES.read_text("utf-8")).items():
        low, high = Share(count, of).interval
        share = Share(found[name]["count"], found[name]["of"])
        assert share.of == of
        bound = share.percent <= high if name == "wrongly_withheld" else share.percent >= low
        assert bound, f"{name}: {share}, was {count} of {of}"


def test_every_so_many_questions_are_asked(tmp_path: Path) -> None:
    folder = tmp_path / "club"
    (folder / "files").mkdir(parents=True)
    text = "The ferry sails at a quarter to nine. The cash box holds 800 euros. Ada has the key."
    (folder / "files/letter.txt").write_text(text)
    asked = [
        ("When does the ferry sail?", "a quarter to nine"),
        ("How much money is in the cash box?", "800"),
        ("Who has the key?", "Ada"),
    ]
    lines = [
        {
            "id": f"club-{number}", "kind": "direct", "question": question, "answer": answer,
            "file": "letter.txt", "quote": answer, "leads": answer, "holds": [answer],
        }
        for number, (question, answer) in enumerate(asked, 1)
    ]  # fmt: skip
    (folder / "questions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    options = ["--root", str(tmp_path), "--corpora", str(tmp_path / "corpora"), "--json"]
    for step, count in ((1, 3), (2, 2)):
        done = CliRunner().invoke(command, [*options, "--step", str(step)])
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)["groups"]["all"]
        assert found["leads"] == {"count": count, "of": count}
