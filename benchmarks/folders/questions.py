"""The folders of `data/folders`, and the questions that their people would ask."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDERS = Path(__file__).parents[2] / "data" / "folders"
DEVELOPMENT = (
    "bakery",
    "building-site",
    "clinic-shifts",
    "feuerwehr",
    "film-shoot",
    "football-club",
    "housing-coop",
    "research-lab",
    "school-board",
    "software-team",
    "vet-practice",
)
"""Folders whose questions may be looked at one by one; the others are only counted."""

NEAR_MISS = "near_miss"
KINDS = (
    "direct",
    "paraphrased",
    "revised",
    "table",
    "how_many",
    "across",
    "who",
    "when",
    "list",
    "typo",
    "follow_up",
    NEAR_MISS,
)


@dataclass(frozen=True, slots=True)
class FolderQuestion:
    """A question about a folder, and how its answer is graded.

    Attributes:
        id: Its name.
        folder: The name of its folder.
        kind: One of `KINDS`.
        text: The question.
        answer: What people would say.
        file: Where the answer stands; "" for a near miss.
        quote: The words of the file that answer; the cells of a row are joined by " | ".
        leads: A pattern that the first words of a right answer match.
        holds: Patterns that a complete answer matches.
        history: The questions before it, if it leans on them.
    """

    id: str
    folder: str
    kind: str
    text: str
    answer: str
    file: str
    quote: str
    leads: str
    holds: tuple[str, ...]
    history: tuple[str, ...]

    @property
    def answerable(self) -> bool:
        """Whether the folder says it."""
        return self.kind != NEAR_MISS

    @classmethod
    def of(cls, folder: str, values: Mapping[str, Any]) -> FolderQuestion:
        """As it stands in a file of questions."""
        return cls(
            id=values["id"],
            folder=folder,
            kind=values["kind"],
            text=values["question"],
            answer=values["answer"],
            file=values["file"],
            quote=values["quote"],
            leads=values["leads"],
            holds=tuple(values["holds"]),
            history=tuple(values.get("history") or ()),
        )


def folder_names(root: Path = FOLDERS) -> list[str]:
    """All folders with questions, by name."""
    return sorted(path.parent.name for path in root.glob("*/questions.jsonl"))


def folder_questions(folder: str, root: Path = FOLDERS) -> Iterator[FolderQuestion]:
    """The questions of a folder, in the order of its file."""
    text = (root / folder / "questions.jsonl").read_text("utf-8")
    for line in filter(str.strip, text.splitlines()):
        yield FolderQuestion.of(folder, json.loads(line))
