"""Choices that the command line writes out, so that help is quick, are those of the tables."""

from __future__ import annotations

import typing

import click

from generator.answer import Mode
from indexing.extension import METHODS
from rag_app.cli import main


def choices(command: str, option: str) -> list[str]:
    (found,) = (each for each in main.commands[command].params if option in each.opts)
    assert isinstance(found.type, click.Choice)
    return list(found.type.choices)


def test_extension_offers_every_method() -> None:
    assert choices("index", "--extension") == list(METHODS)


def test_answer_offers_every_mode() -> None:
    assert choices("ask", "--answer") == list(typing.get_args(Mode))
