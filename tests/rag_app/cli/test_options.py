"""Choices that the command line writes out, so that help is quick, are those of the tables."""

from __future__ import annotations

import typing
from collections.abc import Iterator

import click
import pytest

from generator.answer import Mode
from generator.generator import DECODINGS, QUOTES
from generator.lm.ms_poe_policy import MS_POE
from indexing.extension import METHODS
from rag_app.cli.main import main
from retriever.fusion import RANKINGS

TABLES = {
    "--decoding": set(DECODINGS),
    "--quotes": set(QUOTES),
    "--ms-poe": set(MS_POE),
    "--answer": set(typing.get_args(Mode)),
    "--extension": set(METHODS),
    "--retriever": set(RANKINGS),
}


def choices(command: click.Command, name: str) -> Iterator[tuple[str, str, set[str]]]:
    """The command, the option and what it offers, for every option with choices."""
    for option in command.params:
        if isinstance(option.type, click.Choice):
            yield name, option.opts[-1], set(option.type.choices)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from choices(below, f"{name} {word}")


FOUND = [each for each in choices(main, "rag-app") if each[1] in TABLES]


@pytest.mark.parametrize(("command", "option", "offered"), FOUND)
def test_an_option_offers_the_whole_table(command: str, option: str, offered: set[str]) -> None:
    assert offered == TABLES[option], command


def test_every_table_is_offered_somewhere() -> None:
    assert {option for _, option, _ in FOUND} == set(TABLES)
