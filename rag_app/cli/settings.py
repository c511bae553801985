"""Settings from a file and the environment: the same names as the flags.

Flags win over environment variables, these over the file, the file over defaults. The file is
`rag-app.toml` in the working folder, or the one named by `--config`:

    corpus = "minutes"      # for every command that has --corpus
    mode = "free"

    [ask]                   # for one command
    k = 8

The variable of a flag is its name in capitals: RAG_APP_MAX_LENGTH for --max-length.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from indexing.errors import InvalidRequest
from rag_app.cli.option_types import CLUSTERED, CorpusPlace
from rag_app.request_fields import hint

FILE_NAME = "rag-app.toml"
PREFIX = "RAG_APP_"
LOCAL = ("127.0.0.1", "localhost", "::1")
_NOT_FROM_ENVIRONMENT = {"cache", "config", "corpus", "data", "help", "json", "version"}
_NOT_FROM_FILE = {"config", "help", "version"}

Values = dict[str, Any]
Path_ = tuple[str, ...]
"""The words of a command, such as ("evaluate", "needle")."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that commands take when no flag says otherwise.

    It is as the flag would be given; its source is "default", a file, or an environment variable.
    """

    name: str
    value: Any
    source: str
    commands: tuple[str, ...]


def flag(option: click.Option) -> str:
    """The name that people know an option by: "max-length" for --max-length, "k" for -k."""
    return max(option.opts, key=len).lstrip("-")


def flags(option: click.Option) -> list[str]:
    """That name, and its former one if it was renamed."""
    former = getattr(option, "former", None)
    return [flag(option), *([former.lstrip("-")] if former else [])]


def leaves(
    command: click.Command, context: click.Context, words: Path_ = ()
) -> dict[Path_, click.Command]:
    """The commands that take options of their own, groups opened, by their words."""
    if not isinstance(command, click.Group):
        return {words: command}
    commands = {}
    for word in command.list_commands(context):
        below = command.get_command(context, word)
        assert below is not None
        commands.update(leaves(below, context, (*words, word)))
    return commands


def listen(command: click.Command) -> click.Command:
    """Give every option of a command its environment variable, but for those that have one."""
    for option in _options(command):
        if option.envvar is None and flag(option) not in _NOT_FROM_ENVIRONMENT:
            option.envvar = [f"{PREFIX}{name.upper().replace('-', '_')}" for name in flags(option)]
    return command


def find(config: Path | None) -> Path | None:
    """The file to read: the one given to --config, or that of the working folder.

    Raises:
        InvalidRequest: There is no such file.
    """
    if config is not None:
        if not config.is_file():
            raise InvalidRequest(f"{config}: no such file; check the path given to --config")
        return config
    here = Path(FILE_NAME)
    return here if here.is_file() else None


def default_map(
    file: Path, commands: Mapping[Path_, click.Command], *, named: bool = True
) -> Values:
    """What click takes for the defaults of each command, from a file of TOML.

    One that nobody `named`, which just lay there, perhaps beside documents from somebody else, must
    not open a way out.

    Raises:
        InvalidRequest: It cannot be read, or has a key or a value that no flag has, or names a
            server or a host though nobody named it.
    """
    values = _read(file)
    defaults: Values = {}
    for words, name, value in _entries(values, file, commands):
        where = f"{file}: {'.'.join((*words, name))}"
        if not named and _leads_out(name, value):
            raise InvalidRequest(
                f"{where}: a settings file found by chance may not open a connection to another "
                f"machine; check it, then use --config {file}, {PREFIX}{name.upper()} or --{name}"
            )
        shared = [words] if words else _takers(name, commands)
        takers = {each: _by_name(commands[each])[name] for each in shared}
        for taker, option, checked in _accepting(where, takers, value, file.parent):
            place = defaults
            for word in taker:
                place = place.setdefault(word, {})
            place[str(option.name)] = checked
    return defaults


def overview(
    file: Path | None, defaults: Mapping[str, Any], commands: Mapping[Path_, click.Command]
) -> list[Setting]:
    """The settings that have a value, where each comes from, and which commands take it."""
    sources: dict[tuple[str, str, str], tuple[Any, list[str]]] = {}
    for words, command in commands.items():
        place: Mapping[str, Any] = defaults
        for word in words:
            place = place.get(word, {})
        for option in _options(command):
            value, source = _value(option, place, file)
            if (
                value in (None, False, ())
                or (value == "" and source == "default")
                or flag(option) in _NOT_FROM_FILE
            ):
                continue
            key = (flag(option), str(value), source)
            sources.setdefault(key, (value, []))[1].append(" ".join(words))
    settings = [
        Setting(name, value, source, tuple(takers))
        for (name, _, source), (value, takers) in sources.items()
    ]
    return sorted(settings, key=lambda setting: (setting.name, setting.commands))


def _value(option: click.Option, place: Mapping[str, Any], file: Path | None) -> tuple[Any, str]:
    variables = [option.envvar] if isinstance(option.envvar, str) else list(option.envvar or ())
    for variable in variables:
        if os.environ.get(variable):
            return os.environ[variable], f"${variable}"
    if option.name in place:
        return place[str(option.name)], str(file)
    plain = isinstance(option.default, str | int | float | Path | tuple | list)
    return (option.default if plain else None), "default"


def _read(file: Path) -> Values:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidRequest(f"{file}: cannot be read ({error.strerror or error})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidRequest(f"{file}: is not TOML ({error}); fix it") from error


def _entries(
    values: Values, file: Path, commands: Mapping[Path_, click.Command], words: Path_ = ()
) -> Iterator[tuple[Path_, str, Any]]:
    """(words of the command, flag, value); no words for a value that all commands share.

    A key that is no flag and no command is refused.
    """
    below = {path[len(words)] for path in commands if path[: len(words)] == words != path}
    if words in commands:
        flags = set(_by_name(commands[words]))
    else:
        flags = (
            {name for one in commands.values() for name in _by_name(one)} if not words else set()
        )
    for key, value in values.items():
        name = key.replace("_", "-")
        if isinstance(value, dict) and key in below:
            yield from _entries(value, file, commands, (*words, key))
        elif name in flags and not isinstance(value, dict):
            yield words, name, value
        else:
            where = f"[{'.'.join(words)}] has" if words else "has"
            remedy = hint(name, flags | below, "see: rag-app --help")
            raise InvalidRequest(f"{file}: {where} no setting {key!r}; {remedy}")


def _takers(name: str, commands: Mapping[Path_, click.Command]) -> list[Path_]:
    """The commands that share a setting.

    A flag that listens to a variable of its own, as --corpus does, means something else where it
    does not: `evaluate longembed --corpus` is a place for copies.
    """
    options = {words: _by_name(command).get(name) for words, command in commands.items()}
    listening = [words for words, option in options.items() if option and option.envvar]
    return listening or [words for words, option in options.items() if option]


def _leads_out(name: str, value: object) -> bool:
    """Whether a value sends text to a server, or lets others in."""
    if name == "host":
        return value not in LOCAL
    if name == "ray":
        return bool(value)
    if name == "corpus":
        return str(value).startswith(CLUSTERED)
    return name in {"generator", "reranker", "encoder"} and str(value).strip().lower().startswith(
        "openai:"
    )


def _accepting(
    where: str, takers: Mapping[Path_, click.Option], value: object, folder: Path
) -> list[tuple[Path_, click.Option, object]]:
    """The commands that accept a value: `--passages` is a number in one and a list in another."""
    accepts, errors = [], []
    for words, option in takers.items():
        try:
            accepts.append((words, option, _check(where, option, value, folder)))
        except InvalidRequest as error:
            errors.append(error)
    if not accepts:
        raise errors[0]
    return accepts


def _check(where: str, option: click.Option, value: object, folder: Path) -> object:
    """A value as the flag would give it; relative paths count from the file's folder."""
    if not option.multiple:
        return _check_one(where, option, value, folder)
    values = value if isinstance(value, list) else [value]
    return [_check_one(where, option, each, folder) for each in values]


def _check_one(where: str, option: click.Option, value: object, folder: Path) -> object:
    kind, types = _kind(option)
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise InvalidRequest(f"{where}: give {kind}, not {value!r}")
    if option.is_flag:
        return value
    if isinstance(option.type, CorpusPlace) and str(value).startswith(CLUSTERED):
        return value  # the cluster is asked only by the command that runs
    if isinstance(option.type, click.Path):
        value = str(folder / str(value))
    try:
        option.type.convert(value, option, None)
    except click.UsageError as error:
        raise InvalidRequest(f"{where}: {error.message}") from None
    return value


def _kind(option: click.Option) -> tuple[str, tuple[type, ...]]:
    """What a flag takes, in words and as Python's types."""
    if option.is_flag:
        return "true or false", (bool,)
    if isinstance(option.type, click.types.IntParamType):
        return "a whole number", (int,)
    if isinstance(option.type, click.types.FloatParamType):
        return "a number", (int, float)
    return "a string", (str,)


def _options(command: click.Command) -> list[click.Option]:
    return [option for option in command.params if isinstance(option, click.Option)]


def _by_name(command: click.Command) -> dict[str, click.Option]:
    options = {name: option for option in _options(command) for name in flags(option)}
    return {name: option for name, option in options.items() if name not in _NOT_FROM_FILE}
