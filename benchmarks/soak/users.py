"""People who use a server: each asks, searches, uploads and removes, with time to think."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import httpx

from benchmarks.soak.model import ModelProcess
from benchmarks.soak.server import Server
from benchmarks.soak.tab import PageFailed, Tab

OWN = 3  # uploaded files that a person keeps; the oldest goes before the next comes
CHAT = 4  # questions of a conversation
WORDS = 1500  # of an uploaded file, at most

Outcome = Literal["done", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that somebody did.

    Attributes:
        at: Seconds from the beginning of the measurement to its beginning.
        kind: What it was.
        seconds: How long it took.
        outcome: "interrupted" where the server was stopped meanwhile.
        note: What failed.
    """

    at: float
    kind: str
    seconds: float
    outcome: Outcome = "done"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Material:
    """What people ask about and upload."""

    questions: tuple[str, ...]
    words: tuple[str, ...]


def credentials(number: int) -> tuple[str, str]:
    """The name and the password of a user."""
    return f"user-{number}", f"password of {number}"


class User(threading.Thread):
    """A person, until `over` is set.

    Args:
        number: Whose files bear it in their names.
        server: What they use.
        material: What they ask and upload.
        over: Set at the end.
        think: Mean seconds between two actions.
        seed: Of what they do.
        model: What generates answers; None for quotes alone.
        has_login: Whether they log in, and have a collection that they share at times.

    Attributes:
        actions: What was done.
        kept: Names of files that the server accepted and that nobody removed.
        removed: Names of those that were removed.
        uncertain: Names of those whose removal the server was stopped at.
        collection: The name of the one that they make beside the one of their uploads.
        has_collection: Whether it was made.
    """

    def __init__(
        self,
        number: int,
        server: Server,
        material: Material,
        over: threading.Event,
        think: float,
        seed: int,
        *,
        model: ModelProcess | None = None,
        has_login: bool = False,
    ) -> None:
        super().__init__(name=f"user {number}", daemon=True)
        self.number, self.server, self.material = number, server, material
        self.over, self.think = over, think
        self.draw = random.Random(f"{seed}-{number}")
        self.start_time = time.monotonic()
        self.actions: list[Action] = []
        self.kept: list[str] = []
        self.removed: list[str] = []
        self.uncertain: list[str] = []
        self.files = self.questions = 0
        self.collection, self.has_collection = f"work of user {number}", False
        self.model, self.has_login = model, has_login
        self._tab: Tab | None = None
        self._browser: object = None

    def run(self) -> None:
        """Think, act, and so on; reload the page after each start of the server."""
        kinds = {
            "question": (8, self._ask),
            "question (API)": (3, self._ask_api),
            "search": (5, self._search),
            "upload": (3, self._upload),
            "overview": (1, self._overview),
        }
        if self.model is not None:
            kinds["generated answer"] = (3, self._ask_model)
        if self.has_login:
            kinds |= {"sharing": (1, self._share), "login": (1, self._log_in_again)}
            kinds["collection"] = (1, self._collect)
        weights = [weight for weight, _ in kinds.values()]
        while not self.over.wait(min(self.draw.expovariate(1 / self.think), 4 * self.think)):
            kind = self.draw.choices(list(kinds), weights)[0]
            self._act(kind, kinds[kind][1])
        self._close()

    def _act(self, kind: str, act: Callable[[Tab], None]) -> None:
        """Do something, and note how it went; a page that broke off is opened again next time."""
        while not self.server.up.wait(0.5):
            if self.over.is_set():
                return
        restarts, began = self.server.restarts, time.monotonic()
        kills = self.model.kills if self.model else 0
        outcome: Outcome = "done"
        note = ""
        try:
            if self._tab is None:
                self._timed("page", self._open)
                began = time.monotonic()
            assert self._tab is not None
            act(self._tab)
        except (httpx.HTTPError, PageFailed) as error:
            stopped = self._was_stopped(restarts, kills)
            outcome = "interrupted" if stopped else "failed"
            note = f"{type(error).__name__}: {error}"
            self._close()
        self._note(kind, began, outcome, note)

    def _was_stopped(self, restarts: int, kills: int) -> bool:
        """Whether the server or its model was stopped since these counts, or is not there."""
        if self.server.restarts != restarts or self.over.is_set():
            return True
        return self.model is not None and (self.model.kills != kills or not self.model.up.is_set())

    def _timed(self, kind: str, work: Callable[[], None]) -> None:
        began = time.monotonic()
        work()
        self._note(kind, began)

    def _note(self, kind: str, began: float, outcome: Outcome = "done", note: str = "") -> None:
        at, seconds = began - self.start_time, time.monotonic() - began
        self.actions.append(Action(round(at, 2), kind, round(seconds, 3), outcome, note))

    def _open(self) -> None:
        login = credentials(self.number) if self.has_login else None
        self._tab = Tab(self.server.address, self._browser, login)

    def _close(self) -> None:
        if self._tab is not None:
            self._browser = self._tab.browser
            self._tab.close()
            self._tab = None

    def _question(self) -> str:
        return self.draw.choice(self.material.questions)

    def _ask_model(self, tab: Tab) -> None:
        self._ask(tab, "free")

    def _share(self, tab: Tab) -> None:
        """Let others read the own collection, or no longer."""
        act = self.draw.choice(["share_collection", "unshare_collection"])
        if self.kept:
            tab.send(act, [tab.browser], value=credentials(self.number)[0])

    def _collect(self, tab: Tab) -> None:
        """Put the own files into a collection, and ask that one alone."""
        tab.watch()
        ids = [found[1] for name in self.kept if (found := _listed(name, tab.documents))]
        tab.browser = tab.send("choose", [tab.browser], value=ids)[0]
        _, collections, _, notice = tab.send(
            "make_collection", [tab.browser], value=self.collection
        )
        self.has_collection = self.has_collection or f">{self.collection}<" in str(collections)
        if not self.has_collection:
            if "cannot be changed" in str(notice):  # while others were added for too long
                return
            raise PageFailed(f"{self.collection} is not listed: {notice}")
        for act, names in (("choose", []), ("choose_collections", [self.collection])):
            tab.browser = tab.send(act, [tab.browser], value=names)[0]
        if ids:
            self._ask(tab)
        tab.browser = tab.send("choose_collections", [tab.browser], value=[])[0]

    def _log_in_again(self, tab: Tab) -> None:
        """Log out, and in again with the next action."""
        tab.log_out()
        self._close()

    def _ask(self, tab: Tab, mode: str = "quote") -> None:
        if self.questions % CHAT == 0:
            tab.browser = tab.send("new", [tab.browser])[5]
        self.questions += 1
        tab.browser = tab.send("ask", [self._question(), mode, tab.browser, None])[5]
        history = str(tab.send("follow", [tab.browser])[1])
        states = re.findall(r'<article class="exchange (\w+)', history)
        if not states or states[-1] != "done":
            raise PageFailed(f"the answer is {states[-1:]}")

    def _ask_api(self, tab: Tab) -> None:
        messages = [{"role": "user", "content": self._question()}]
        body = {"model": "rag-app-quote", "messages": messages, "user": self.name}
        tab.http.post("/v1/chat/completions", json=body).raise_for_status()

    def _search(self, tab: Tab) -> None:
        (found,) = tab.send("run", [tab.browser, self._question(), *[""] * 5, 5, 2, False, 1])
        if 'class="hits"' not in str(found):
            raise PageFailed(f"a search found: {str(found)[:200]}")

    def _overview(self, tab: Tab) -> None:
        ids = re.findall(r'data-act="overview" data-value="(\w+)"', tab.documents)
        if ids:
            tab.send("overview", [], value=self.draw.choice(ids))

    def _upload(self, tab: Tab) -> None:
        """Upload a file and watch until all are indexed; first an old one makes room."""
        if len(self.kept) >= OWN:
            self._timed("removal", lambda: self._remove(tab, self.kept[0]))
        name = f"user-{self.number}-{self.files}.txt"
        self.files += 1
        start = self.draw.randrange(len(self.material.words) - WORDS)
        words = self.material.words[start : start + self.draw.randrange(WORDS // 10, WORDS)]
        text = f"Notes {self.files} of user {self.number}.\n\n{' '.join(words)}\n"
        began = time.monotonic()
        sent = tab.http.post("/files", content=text.encode(), headers={"x-name": name})
        sent.raise_for_status()
        self.kept.append(name)
        tab.watch()
        self._note("upload until indexed", began)

    def _remove(self, tab: Tab, name: str) -> None:
        """Remove a document."""
        tab.watch()
        found = _listed(name, tab.documents)
        if found is None:
            raise PageFailed(f"{name} is not listed")
        self.kept.remove(name)
        self.uncertain.append(name)
        shown = tab.send("remove", [tab.browser], value=found[1])
        tab.documents = tab.documents_in("remove", shown)
        self.uncertain.remove(name)
        listed = f'{name}">' in tab.documents  # while others were added for too long
        (self.kept if listed else self.removed).append(name)


def _listed(name: str, documents: str) -> re.Match[str] | None:
    """Where a file is in the list of documents; its first group is the document's id."""
    return re.search(rf'{re.escape(name)}">\s*<label>[^>]*value="(\w+)"', documents)
