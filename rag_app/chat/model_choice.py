"""The language model that writes: looked for, tested and chosen on the page, stored on disk.

One model answers everybody, as one machine holds one. Without logins, whoever opens the page may
choose it; with logins, whoever is named first among them. A model that was named when the server
was started is not changed. Keys of servers stay in one file that only the server's user can read;
they go to the address that they were given for, and never into a browser or a log.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.errors import CorpusError, InvalidRequest, RagAppError, ServerFailed
from indexing.message import N_
from indexing.models.files import PACKAGED_GENERATORS, generator_revision
from indexing.models.local import LocalModel, local_generators
from indexing.models.server.server_name import PREFIX, is_remote, parse_server_name
from rag_app.chat.model_address import USUAL, check_address, is_elsewhere
from rag_app.output_file import PRIVATE, put_in_place

if TYPE_CHECKING:
    from rag_app.corpus.access import SharedCorpus

FILE = ".model.json"
PROBE = "Reply with the word: ready"
PROBE_TOKENS = 12
QUICK, LONGEST = 2.0, 60.0  # seconds that a server may take to list its models, and to answer


@dataclass(frozen=True, slots=True)
class ServerModels:
    """A server that was found."""

    name: str  # what runs there, if it is a usual address, else its address
    address: str  # its base URL
    models: tuple[str, ...]  # its names of its models
    elsewhere: bool  # whether what it is asked leaves this machine

    def full_name(self, model: str) -> str:
        """The name of one of its models, as `--generator` takes it."""
        return f"{PREFIX}{self.address}#{model}"


@dataclass(frozen=True, slots=True)
class Trial:
    """A model that was tried: the seconds until its answer, loading included, and its beginning."""

    seconds: float
    text: str


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the file holds: the model chosen, "" for none, and the keys by base URL."""

    model: str = ""
    keys: dict[str, str] = field(default_factory=dict, repr=False)


class ModelChoice:
    """The choice of the model of a served corpus; `fixed` where the server was started with it."""

    def __init__(self, corpus: SharedCorpus, *, fixed: bool, people: Sequence[str] = ()) -> None:
        self._corpus, self._fixed, self._people = corpus, fixed, people
        self._file = corpus.folder / FILE
        self._lock, self._testing = threading.Lock(), threading.Lock()

    @property
    def current(self) -> str:
        """The name of the model that writes."""
        return self._corpus.generator_settings.model

    def restore(self) -> None:
        """Use what was chosen last, unless the server was started with a model."""
        choice = self._read()
        if choice.model and not self._fixed:
            with suppress(RagAppError):  # of a name that this version does not take
                self._apply(choice.model, choice.keys)

    def refusal(self, person: str | None) -> str:
        """Why a person may not choose; "" if they may."""
        if self._fixed:
            return N_("It was named when the server was started (--generator).")
        if person is not None and person not in self._people[:1]:
            if not self._people:
                return N_("It is named when the server is started (--generator).")
            return N_("%(name)s chooses it for everybody.", name=self._people[0])
        return ""

    def local(self) -> tuple[LocalModel, ...]:
        """The models on this machine that need no server."""
        return local_generators()

    def look(self, person: str | None) -> list[ServerModels]:
        """The servers at their usual addresses on this machine that answer. Nothing else is asked.

        Raises:
            InvalidRequest: The person may not choose.
            MissingDependency: The library that speaks to servers is not installed.
        """
        self._check(person)
        return servers_here(self._read().keys)

    def at(self, address: str, key: str, person: str | None) -> ServerModels:
        """The models of a server whose address was typed.

        The key is "" for the one that is kept for it, or none.

        Raises:
            InvalidRequest: The person may not choose, or the address cannot be used.
            ServerFailed: The server does not list any.
        """
        self._check(person)
        url, key = self._checked(address, key)
        return ServerModels(url, url, _names(url, key), elsewhere=is_elsewhere(url))

    def test(self, name: str, key: str, person: str | None) -> Trial:
        """Let a model write a few words.

        Raises:
            InvalidRequest: The person may not choose, or a test is running.
            ModelError: The model cannot be loaded.
            ServerFailed: Its server does not answer.
        """
        self._check(person)
        name, key = self._checked_name(name, key)
        if not self._testing.acquire(blocking=False):
            raise InvalidRequest(N_("a model is being tested; wait until that is over"))
        started = time.perf_counter()
        try:
            text = _write(name, key)
        finally:
            self._testing.release()
        return Trial(time.perf_counter() - started, " ".join(text.split())[:80])

    def use(self, name: str, key: str, person: str | None) -> None:
        """Let a model write from the next question on, and after a restart.

        Raises:
            InvalidRequest: The person may not choose, or it is no name of a model.
            ModelError: It is not on this machine.
            CorpusError: The choice cannot be kept.
        """
        self._check(person)
        name, key = self._checked_name(name, key)
        with self._lock:
            before = self._read()
            keys = dict(before.keys)
            if is_remote(name) and key:
                keys[parse_server_name(name)[0]] = key
            self._apply(name, keys)
            self._write(_Choice(name, keys))

    def keys_kept(self) -> int:
        """How many servers' keys are kept."""
        return len(self._read().keys)

    def forget_keys(self, person: str | None) -> int:
        """Delete all keys that are kept; how many there were.

        Raises:
            InvalidRequest: The person may not choose.
            CorpusError: The file cannot be written.
        """
        self._check(person)
        with self._lock:
            choice = self._read()
            self._write(_Choice(choice.model, {}))
            if not self._fixed and is_remote(self.current):
                self._apply(self.current, {})
        return len(choice.keys)

    def _check(self, person: str | None) -> None:
        if refusal := self.refusal(person):
            raise InvalidRequest(N_("you may not choose the model. %(reason)s", reason=refusal))

    def _checked(self, address: str, key: str) -> tuple[str, str]:
        """A typed address as a base URL, and the key that goes to it."""
        url = check_address(address, key="")
        key = key.strip() or self._read().keys.get(url, "")
        return check_address(url, key=key), key

    def _checked_name(self, name: str, key: str) -> tuple[str, str]:
        """A model that may be used, and its key: of a server, or on this machine already."""
        name = name.strip()
        if is_remote(name):
            address, model = parse_server_name(name)
            url, key = self._checked(address, key)
            return f"{PREFIX}{url}#{model}", key
        here = name in PACKAGED_GENERATORS or any(one.name == name for one in self.local())
        if not here and not Path(name).expanduser().is_absolute():
            raise InvalidRequest(
                N_(
                    "%(name)s is no model on this machine; choose one of the list, or write the "
                    "whole path of its folder or .gguf file",
                    name=repr(name),
                )
            )
        generator_revision(name)  # says what is wrong with it
        return name, ""

    def _apply(self, name: str, keys: dict[str, str]) -> None:
        settings = replace(self._corpus.generator_settings, model=name)
        key = keys.get(parse_server_name(name)[0], "") if is_remote(name) else None
        self._corpus.use_generator(settings, key=key)

    def _read(self) -> _Choice:
        try:
            values: Any = json.loads(self._file.read_text("utf-8"))
            model, keys = values["model"], values["keys"]
        except (OSError, ValueError, TypeError, KeyError):
            return _Choice()
        if not isinstance(model, str) or not isinstance(keys, dict):
            return _Choice()
        return _Choice(model, {str(url): str(key) for url, key in keys.items()})

    def _write(self, choice: _Choice) -> None:
        """Keep a choice, in a file that only this user can read from its first byte on."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            put_in_place(self._file, json.dumps(asdict(choice)), mode=PRIVATE)
        except OSError as error:
            raise CorpusError(
                N_(
                    "%(name)s: the choice cannot be kept (%(error)s); check the folder's "
                    "permissions",
                    name=self._file,
                    error=error.strerror or error,
                )
            ) from error


def servers_here(keys: Mapping[str, str]) -> list[ServerModels]:
    """The servers at their usual addresses on this machine that answer. Nothing else is asked.

    Keys are by base URL, for those that need one.

    Raises:
        MissingDependency: The library that speaks to servers is not installed.
    """
    servers = []
    for name, address in USUAL.items():
        with suppress(ServerFailed):
            models = _names(address, keys.get(address, ""))
            servers.append(ServerModels(name, address, models, elsewhere=False))
    return servers


def _names(url: str, key: str) -> tuple[str, ...]:
    """A server's names of its models."""
    from generator.lm.server.openai_server import Patience, RemoteModel

    patience = Patience(connect=QUICK, read=QUICK)
    return RemoteModel(f"{PREFIX}{url}#any", patience=patience, key=key).names()


def _write(name: str, key: str) -> str:
    """A few words of a model."""
    if is_remote(name):
        from generator.lm.server.openai_server import Patience, RemoteModel

        model = RemoteModel(name, patience=Patience(connect=QUICK, read=LONGEST), key=key)
        return "".join(model.stream(PROBE, max_new_tokens=PROBE_TOKENS))
    from generator.lm.any_model import load_alone
    from generator.prompt.builder import SYSTEM

    loaded = load_alone(name)
    frame = loaded.chat.frame(SYSTEM)
    ids = (*frame.head, *loaded.chat.content(PROBE), *frame.tail)
    return "".join(loaded.stream(ids, max_new_tokens=PROBE_TOKENS, stops=frame.stops))
