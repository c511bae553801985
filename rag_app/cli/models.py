"""`rag-app models`. Heavy imports wait until it is called."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexing.errors import InvalidRequest, MissingDependency, ModelNotFound, RagAppError
from rag_app.cli.options import print_result, with_json
from rag_app.cli.terminal import notify, say

if TYPE_CHECKING:
    from indexing.models.local import LocalModel

_READ, _WRITTEN = 128, 16  # tokens, of a measurement
_SOURCES = {"packaged": "comes with rag-app", "cache": "the hub's cache", "file": "a GGUF file"}


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A language model that may be named, as `--generator` takes it."""

    name: str
    source: str  # where it is
    bytes: int | None = None  # of its weights; None where that is not known
    # whether it fits into the memory that is free; None where that is not known
    fits: bool | None = None
    # tokens of a prompt that it reads a second here; None where it was not measured
    read: float | None = None
    written: float | None = None  # tokens that it writes a second


@click.group(invoke_without_command=True)
@click.option("--speed", is_flag=True, help="Let each model of this machine read and write.")
@with_json
@click.pass_context
def models(ctx: click.Context, speed: bool, as_json: bool) -> None:
    """List the language models that can write answers here.

    Those that came with the program, those in the caches of the model hub, LM Studio and
    llama.cpp, and those of servers that answer on this machine (Ollama, LM Studio, llama.cpp, vLLM
    at their usual ports). Nothing is asked elsewhere.
    """
    if ctx.invoked_subcommand is not None:
        return
    from indexing.models.local import local_generators

    listed = [_local(one, speed=speed) for one in local_generators()]
    listed += _of_servers()
    print_result(as_json, {"models": [asdict(one) for one in listed]}, lambda: _print(listed))


@models.command()
@click.argument("name")
@click.option("--file", help="One GGUF file of the repository, such as model-q4_k_m.gguf.")
def get(name: str, file: str | None) -> None:
    """Fetch a model from the hub: a repository such as org/model, or one GGUF file of it."""
    from indexing.models.files import fetch_file, generator_weights, offline

    if offline():
        raise InvalidRequest("the hub is switched off; unset HF_HUB_OFFLINE to fetch a model")
    if file is None and Path(name).exists():
        raise InvalidRequest(f"{name} is on this machine; use it with --generator {name}")
    place = name if file is None else str(fetch_file(name, file))
    if file is None:
        generator_weights(name, notify=notify)
    say(f"--generator {place}")


def _local(model: LocalModel, *, speed: bool) -> ListedModel:
    listed = ListedModel(model.name, _SOURCES[model.source], model.bytes or None, model.fits)
    if not speed or model.fits is False:
        return listed
    try:
        read, written = measured_speed(model.name)
    except RagAppError as error:
        say(f"{model.name}: {error}", error=True)
        return listed
    return ListedModel(listed.name, listed.source, listed.bytes, listed.fits, read, written)


def measured_speed(name: str) -> tuple[float, float]:
    """Tokens that a model reads and writes a second, on a prompt that it has never seen.

    Raises:
        ModelError: It cannot be loaded.
    """
    from generator.lm.any_model import load_alone

    model = load_alone(name)
    text = " ".join(str(number) for number in range(100, 100 + _READ))
    list(model.write(model.chat.content("Once"), max_new_tokens=1).pieces)  # the first is slow
    prompt = model.chat.content(text)[:_READ]
    started = time.perf_counter()
    moments = [time.perf_counter() for _ in model.write(prompt, max_new_tokens=_WRITTEN).pieces]
    if len(moments) < 2:
        raise ModelNotFound(f"{name}: wrote nothing that could be timed; try another model")
    rate = (len(moments) - 1) / (moments[-1] - moments[0])
    return round(len(prompt) / (moments[0] - started), 1), round(rate, 1)


def _of_servers() -> list[ListedModel]:
    from rag_app.chat.model_choice import servers_here

    try:
        servers = servers_here({})
    except MissingDependency as error:
        say(str(error), error=True)
        return []
    return [
        ListedModel(server.full_name(one), f"{server.name}, a server on this machine")
        for server in servers
        for one in server.models
    ]


def _print(listed: list[ListedModel]) -> None:
    for one in listed:
        parts = [one.source]
        if one.bytes is not None:
            parts.append(f"{one.bytes / 1e9:.1f} GB")
        if one.fits is not None:
            parts.append(
                "fits into memory" if one.fits else "too large for the memory that is free"
            )
        if one.read is not None:
            parts.append(f"reads {one.read:g} tokens a second, writes {one.written:g}")
        say(f"{one.name}\n    {', '.join(parts)}")
