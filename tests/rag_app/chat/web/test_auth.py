"""Who may come in: other hosts, other origins and strangers may not, whatever they ask for."""

from __future__ import annotations

import base64

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from indexing.errors import InvalidRequest
from rag_app.chat.web.auth import LOOPBACK, AccessControl, user_of
from rag_app.chat.web.identity import Identification
from rag_app.chat.web.logins import Logins
from rag_app.chat.web.server import ServerOptions, listen
from rag_app.chat.web.sessions import Sessions

LOGIN = "ann:päss:word"
LOGINS = Logins.parse(f"# the team\n{LOGIN}\n\nbob: pass word\n")


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    """Greets whoever is logged in."""
    await PlainTextResponse(f"hello {user_of(scope) or ''}".strip())(scope, receive, send)


def visitor(*, logins: Logins | None = None, at: str = "http://localhost:7860") -> TestClient:
    known = Identification(logins, sessions=Sessions(logins), proxy=None) if logins else None
    protected = AccessControl(hello, hosts=LOOPBACK, identification=known)
    return TestClient(protected, base_url=at)


@pytest.mark.parametrize("at", ["http://localhost:1", "http://127.0.0.1", "http://[::1]:7860"])
def test_this_machine_is_let_in_under_its_names(at: str) -> None:
    assert visitor(at=at).get("/").text == "hello"


@pytest.mark.parametrize("at", ["http://evil.example", "http://localhost.evil.example:7860"])
def test_a_foreign_name_is_turned_away(at: str) -> None:
    assert visitor(at=at).get("/").status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", ""])
def test_pages_of_other_origins_are_turned_away(origin: str) -> None:
    assert visitor().post("/files", headers={"origin": origin}).status_code == 403


def test_its_own_page_is_let_in() -> None:
    reply = visitor().post("/files", headers={"origin": "http://localhost:7860"})
    assert reply.status_code == 200


def test_nothing_may_be_loaded_from_elsewhere() -> None:
    policy = visitor().get("/").headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["connect-src"] == "'self'"
    allowed = {word for rule in rules.values() for word in rule.split()}
    assert allowed == {"'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"}


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/files", "/v1/models", "/mcp"])
def test_without_the_login_there_is_nothing(path: str) -> None:
    for value in (None, "Basic", "Basic !", "Basic YW5uOnB3", "Bearer ann", "Digest ann:word"):
        headers = {"authorization": value} if value else {}
        reply = visitor(logins=LOGINS).get(path, headers=headers)
        assert reply.status_code == 401 and reply.headers["www-authenticate"].startswith("Basic")


def test_the_login_of_a_browser_and_the_key_of_a_program() -> None:
    code = base64.b64encode(LOGIN.encode()).decode()
    for value in (f"Basic {code}".encode(), f"bearer {LOGIN}".encode()):
        reply = visitor(logins=LOGINS).get("/", headers={b"authorization": value})
        assert reply.status_code == 200 and reply.text == "hello ann", value


def test_each_person_is_known_by_name() -> None:
    assert visitor(logins=LOGINS).get("/", auth=("bob", " pass word")).text == "hello bob"
    assert visitor(logins=LOGINS).get("/", auth=("bob", "päss:word")).status_code == 401
    assert visitor().get("/", auth=("bob", " pass word")).text == "hello"


def test_the_network_needs_a_login() -> None:
    with pytest.raises(InvalidRequest, match="RAG_APP_AUTH"):
        ServerOptions(host="0.0.0.0")
    assert not ServerOptions(host="0.0.0.0", logins=LOGINS).private


def test_a_port_that_is_taken_is_said() -> None:
    with listen(ServerOptions(port=0)) as first:
        first.listen()
        with pytest.raises(InvalidRequest, match="--port"):
            listen(ServerOptions(port=first.getsockname()[1]))
    with pytest.raises(InvalidRequest, match="cannot listen"):
        listen(ServerOptions(host="203.0.113.7", port=0, logins=LOGINS))
