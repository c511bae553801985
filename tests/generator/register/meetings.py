"""Meetings of one group as documents, for tests."""

from __future__ import annotations

from dataclasses import replace

from indexing.documents import Document, Occasion
from indexing.files import document

PEOPLE = ("Maren Osei", "Jens Petersen", "Ada Park")


def meeting(day: str, *lines: str, name: str = "") -> Document:
    """Minutes of a day, "" for an unknown one; a line a paragraph."""
    text = "\n\n".join(["Minutes of the meeting", *lines]) + "\n"
    made = document(text, name=name or f"minutes-{day}")
    return replace(made, occasion=Occasion(day, "file name" if day else "", PEOPLE, "first lines"))
