"""Two people on one server: no endpoint gives to one what is the other's alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from generator.answer import Answer, Citation
from indexing.filter import Filter, Scope
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.conversation_store import ConversationStore, login_key
from rag_app.corpus.corpus import Corpus
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.web.page_events import PageEvents
from tests.rag_app.chat.web.programs import PASSWORDS
from tests.waiting import PATIENCE, wait_until

QUESTION = "How many crowns are in the fund?"
SECRET = "ninety"  # in ann's document, her conversation and her title
TEXT = f"Decision: the zeppelin fund holds {SECRET} crowns, which nobody else may know of."
NAME = f"fund-of-{SECRET}.txt"


def program(served: Served, user: str) -> httpx.Client:
    """A program that is logged in."""
    return httpx.Client(base_url=served.address, auth=(user, PASSWORDS[user]), timeout=PATIENCE)


@dataclass(frozen=True)
class Theirs:
    """What is ann's alone."""

    document: str
    upload: str
    conversation: str
    path: str


@pytest.fixture(scope="module")
def people(team_server: Served) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    with program(team_server, "ann") as ann, program(team_server, "bob") as bob:
        yield ann, bob


def upload(client: httpx.Client, name: str, text: str) -> dict[str, Any]:
    reply = client.post("/files", headers={"x-name": name}, content=text.encode())
    assert reply.status_code == 201, reply.text
    values: dict[str, Any] = reply.json()
    return values


@pytest.fixture(scope="module")
def anns(team_server: Served, people: tuple[httpx.Client, httpx.Client]) -> Iterator[Theirs]:
    """A document of ann's, her upload of it, and her conversation about it."""
    ann, bob = people
    sent = upload(ann, NAME, TEXT)
    upload(ann, "notes.txt", "Ann notes that the ferry leaves at six.")
    assert (
        upload(bob, "notes.txt", "Bob notes that the ferry leaves at seven.")["stage"] == "waiting"
    )
    with Corpus(team_server.folder) as corpus:
        wait_until(lambda: len(corpus.documents()) == 4)
        entry = next(each for each in corpus.documents() if SECRET in each.title)
    place = (entry.id, entry.path, entry.title, "", 0, len(TEXT), TEXT)
    answer = Answer(QUESTION, f"{TEXT} [1]", citations=(Citation(1, *place, verified=True),))
    done = Exchange(f"Is it {SECRET}?", state="done", text=answer.text, answer=answer)
    conversation = Conversation.new().followed_by(done)
    store = ConversationStore(team_server.folder / ".chats")
    store.save(login_key("ann"), conversation)
    yield Theirs(entry.id, sent["id"], conversation.id, entry.path)


def ask(client: httpx.Client, **limits: object) -> str:
    body = {"model": "rag-app-quote", "messages": [{"role": "user", "content": QUESTION}], **limits}
    return client.post("/v1/chat/completions", json=body).text


def use(client: httpx.Client, tool: str, **arguments: object) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params = {"name": tool, "arguments": arguments}
    accepted = {"accept": "application/json, text/event-stream"}
    return client.post("/mcp", json={**body, "params": params}, headers=accepted).text


def programs(document: str) -> list[Callable[[httpx.Client], str]]:
    """Whatever a program can ask for, of everything or of a document."""
    title = NAME.removesuffix(".txt")
    asked: list[Callable[[httpx.Client], str]] = [
        ask,
        lambda it: ask(it, abstain_below=0),
        lambda it: ask(it, documents=[document], abstain_below=0),
        lambda it: ask(it, collections=["ann"], abstain_below=0),
        lambda it: use(it, "search_documents", query=QUESTION, k=50),
        lambda it: use(it, "search_documents", query=QUESTION, documents=[document]),
        lambda it: use(it, "search_documents", query=QUESTION, collections=["ann"]),
        lambda it: use(it, "ask_documents", question=QUESTION, abstain_below=0),
        lambda it: use(it, "ask_documents", question="What documents do you have?"),
        lambda it: use(it, "read_passage", document=document),
        lambda it: use(it, "document_overview", document=document),
        lambda it: use(it, "meeting_register"),
        lambda it: use(it, "every_place", question=QUESTION),
    ]
    for what in ("view", "view?start=0&end=9", "parts/0", "parts/0?start=0&end=9"):
        asked.append(lambda it, what=what: it.get(f"/documents/{document}/{what}").text)  # type: ignore[misc]
    for tool in ("read_passage", "document_overview"):
        asked.append(lambda it, tool=tool: use(it, tool, document=title))  # type: ignore[misc]
    return asked


def hides(reply: str, asked_by_title: bool) -> bool:
    """Whether a reply says nothing of the document; a name that was asked for is repeated."""
    said = reply.replace(NAME.removesuffix(".txt"), "") if asked_by_title else reply
    return SECRET not in said and "zeppelin" not in said


def test_no_program_reads_what_is_somebody_elses_until_it_is_shared(
    team_server: Served, people: tuple[httpx.Client, httpx.Client], anns: Theirs
) -> None:
    ann, bob = people
    calls = programs(anns.document)
    for number, call in enumerate(calls):
        assert hides(call(bob), asked_by_title=number >= len(calls) - 2), number
        assert SECRET in call(ann), number
    unknown = use(bob, "read_passage", document="no-such")
    hidden = use(bob, "read_passage", document=anns.document)
    assert hidden.replace(anns.document, "no-such") == unknown
    with Corpus(team_server.folder) as corpus:
        corpus.collections.share("ann")
        assert SECRET in ask(bob, abstain_below=0)
        corpus.collections.unshare("ann")
    assert hides(ask(bob, abstain_below=0), asked_by_title=False)


def test_no_part_of_a_document_is_opened_by_who_may_not_see_it(
    people: tuple[httpx.Client, httpx.Client], anns: Theirs
) -> None:
    ann, bob = people
    seen = {"view", "parts/0", "matches?words=fund", "boxes?start=0&end=5"}
    for what in (*seen, "pages/1", "recording"):
        hidden = bob.get(f"/documents/{anns.document}/{what}")
        unknown = bob.get(f"/documents/no-such/{what}")
        assert hidden.status_code == unknown.status_code == 404, what
        assert hidden.text == unknown.text, what
        assert ann.get(f"/documents/{anns.document}/{what}").status_code == (
            200 if what in seen else 404  # it is no PDF, and has no recording
        ), what
    assert ann.get(f"/documents/{anns.document}/parts/99").status_code == 404
    assert ann.get(f"/documents/{anns.document}/view?start=-1&end=x").status_code == 200
    for path in ("..%2f..%2fetc%2fpasswd", "%2Fetc%2Fpasswd", quote(anns.path, safe="")):
        assert bob.get(f"/documents/{path}/view").status_code == 404, path
    header = ann.get(f"/documents/{anns.document}/view").headers
    assert header["cache-control"] == "private, no-cache"
    assert header["cross-origin-resource-policy"] == "same-origin"


def values_for(name: str, anns: Theirs) -> object:
    """What somebody who guesses well sends with an event."""
    if name.endswith("_upload"):
        return anns.upload
    if name.endswith("_collection"):
        return "ann"
    if name.endswith("_chat"):
        return anns.conversation
    if name.endswith("_alias"):
        return "zeppelin|Eefa" if name == "add_alias" else "Eefa"
    known: dict[str, object] = {"choose": [anns.document], "choose_collections": ["ann"]}
    return known.get(name, "0" if name in {"again", "check", "revise"} else anns.document)


def test_no_event_of_the_page_shows_or_changes_what_is_somebody_elses(
    team_server: Served, people: tuple[httpx.Client, httpx.Client], anns: Theirs
) -> None:
    events = PageEvents(people[1])
    forged = {
        "key": login_key("ann"),
        "person": "ann",
        "chat": anns.conversation,
        "chosen": [anns.document],
        "collections": ["ann"],
    }
    assert {"load", "submit", "remove_document", "share_collection"} <= {*events.names.values()}
    for number, name in events.names.items():
        reply = events.send(number, forged, values_for(name, anns), QUESTION)
        assert SECRET not in reply and "zeppelin" not in reply, name
    store = ConversationStore(team_server.folder / ".chats")
    mine = store.get(login_key("ann"), anns.conversation)
    assert mine is not None and len(mine.exchanges) == 1
    wait_until(lambda: all(e.over for c in store.all(login_key("bob")) for e in c.exchanges))
    for conversation in store.all(login_key("bob")):
        assert all(SECRET not in str(each.answer) for each in conversation.exchanges)
    with Corpus(team_server.folder) as corpus:
        assert corpus.document(anns.document).text == TEXT
        assert not corpus.collections.named("ann").shared
    # The same events do show it to ann, so that the test would see it.
    seen = PageEvents(people[0])
    loads = [number for number, name in seen.names.items() if name == "load"]
    replies = [seen.send(number, forged, None, QUESTION) for number in loads]
    assert any(SECRET in reply and "zeppelin" in reply for reply in replies)


def test_registers_and_names_are_of_what_somebody_may_read(
    team_server: Served, people: tuple[httpx.Client, httpx.Client], anns: Theirs
) -> None:
    """The same as above without limits, and with a name that ann keeps."""
    with Corpus(team_server.folder) as corpus:
        corpus.aliases.add("zeppelin", "Eefa")
    forged = {"key": login_key("ann"), "person": "ann", "collections": ["ann"]}
    ann, bob = map(PageEvents, people)
    assert {"show_register", "select", "add_alias", "remove_alias", "click"} <= {
        bob.names[number] for number in bob.views
    }
    for number in bob.views:
        reply = bob.send(number, forged, values_for(bob.names[number], anns), "")
        assert SECRET not in reply and "zeppelin" not in reply, bob.names[number]
    with Corpus(team_server.folder) as corpus:
        assert corpus.aliases.all().names == {"Eefa": "zeppelin"}
    shown = [number for number in ann.views if ann.names[number] == "select"]
    replies = [ann.send(number, forged, None, "") for number in shown]
    assert any(SECRET in reply for reply in replies)
    assert any("Eefa" in reply for reply in replies)
    removes = [number for number in ann.views if ann.names[number] == "remove_alias"]
    assert "Eefa" not in ann.send(removes[0], forged, "Eefa", "")
    with Corpus(team_server.folder) as corpus:
        assert not corpus.aliases.all()


def test_no_file_is_served_and_no_folder_watched(
    team_server: Served, people: tuple[httpx.Client, httpx.Client], anns: Theirs
) -> None:
    ann, bob = people
    store = ConversationStore(team_server.folder / ".chats")
    for path in (anns.path, team_server.folder / "corpus.sqlite"):
        for at in (f"/gradio_api/file={path}", f"/file={path}", f"/static/../../../..{path}"):
            assert bob.get(at).status_code in {403, 404}, at
    folder = {"chats": store.name(login_key("ann"))}
    assert bob.get("/changes", params=folder).text == bob.get("/changes").text
    assert bob.get("/changes").text != ann.get("/changes").text


def test_files_of_one_name_are_two_documents(team_server: Served, anns: Theirs) -> None:
    with Corpus(team_server.folder) as corpus:
        for user, hour in (("ann", "six"), ("bob", "seven")):
            where, seen = Filter(collections=(user,)), corpus.seen_by(Scope(user))
            (notes,) = [one for one in seen.documents(where=where) if one.title == "notes"]
            assert hour in seen.document(notes.id, where=where).text
            assert seen.document("notes", where=where).id == notes.id
            assert hour in Path(notes.path).read_text(encoding="utf-8")
        owners = {one.name: (one.owner, one.shared) for one in corpus.collections.all()}
    assert owners == {"default": (None, False), "ann": ("ann", False), "bob": ("bob", False)}
