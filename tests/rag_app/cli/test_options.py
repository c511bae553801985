"""Choices that the command line writes out, so that help is quick, are those of the tables."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from generator.answer import UNITS, Mode
from generator.decoding import DECODINGS
from generator.lm.ms_poe_policy import MS_POE
from indexing.extension import METHODS
from rag_app.cli import settings
from rag_app.cli.batch import batch
from rag_app.cli.main import main
from rag_app.cli.option_types import ClusterPlace, ExtensionName, RenamedOption
from rag_app.laboratory.commands.calibrate import calibrate
from retriever.fusion import RANKINGS

TABLES = {
    "--decoding": set(DECODINGS),
    "--ms-poe": set(MS_POE),
    "--evidence": set(UNITS),
    "--mode": set(typing.get_args(Mode)),
    "--extension": set(METHODS),
    "--ranking": set(RANKINGS),
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


def test_an_extension_with_entropy_scaling() -> None:
    extension = ExtensionName()
    assert extension.convert("ntk+entropy", None, None) == "ntk+entropy"
    with pytest.raises(click.BadParameter):
        extension.convert("magic+entropy", None, None)


def test_every_table_is_offered_somewhere() -> None:
    assert {option for _, option, _ in FOUND} == set(TABLES)


# ---- renamed options ----

RENAMED = [
    (name, option)
    for name, command in (("batch", batch), ("calibrate", calibrate))
    for option in command.params
    if isinstance(option, RenamedOption)
]


def test_renamed_options() -> None:
    assert {(name, option.opts[0], option.former) for name, option in RENAMED} == {
        ("batch", "--mode", "--answer"),
        ("batch", "--participant", "--with"),
        ("batch", "--on-change", "--changed"),
        ("calibrate", "--tuning-probes", "--searched"),
        ("calibrate", "--test-probes", "--judged"),
    }


def value_of(option: RenamedOption) -> str | int:
    """One that the option takes."""
    return {"--on-change": "keep", "--mode": "free", "--participant": "Ada"}.get(option.opts[0], 3)


@pytest.mark.parametrize(("name", "option"), RENAMED)
def test_a_former_name_still_works_and_is_not_shown(name: str, option: RenamedOption) -> None:
    value = value_of(option)
    expected = (value,) if option.multiple else value
    for used in (option.opts[0], option.former):
        command = click.Command(name, params=[option])
        with command.make_context(name, [used, str(value)]) as context:
            assert context.params[str(option.name)] == expected
    context = click.Context(click.Command(name, params=[option]))
    assert option.former not in context.command.get_help(context)


@pytest.mark.parametrize(("name", "option"), RENAMED)
def test_a_former_name_still_works_in_a_settings_file_and_the_environment(
    name: str, option: RenamedOption, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = settings.listen(click.Command(name, params=[option]))
    value = value_of(option)
    file = tmp_path / "rag-app.toml"
    file.write_text(f"[{name}]\n{option.former.lstrip('-')} = {json.dumps(value)}\n")
    expected = {name: {option.name: [value] if option.multiple else value}}
    assert settings.default_map(file, {(name,): command}) == expected
    monkeypatch.setenv(f"RAG_APP_{option.former.lstrip('-').upper()}", str(value))
    with command.make_context(name, []) as context:
        assert context.params[str(option.name)] == ((value,) if option.multiple else value)


def test_the_address_of_a_cluster_may_be_written_as_that_of_a_corpus() -> None:
    for text in ("10.0.0.1:6379", "ray://10.0.0.1:6379", "ray://10.0.0.1:6379/"):
        assert ClusterPlace().convert(text, None, None) == "10.0.0.1:6379"
