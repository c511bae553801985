"""People log in by a form and out by a button; a proxy in front may say who they are."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from rag_app.chat.web.auth import user_of
from rag_app.chat.web.login_brake import FREE
from rag_app.chat.web.logins import Logins
from rag_app.chat.web.passwords import HashedPassword
from rag_app.chat.web.server import ServerOptions, protect
from rag_app.chat.web.sessions import COOKIE, LIFETIME, Sessions

PEOPLE = f"ann:{HashedPassword.of('one').text}\nbob:two"
HTML = {"accept": "text/html,*/*"}


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    """Greets whoever is logged in."""
    await PlainTextResponse(f"hello {user_of(scope) or ''}".strip())(scope, receive, send)


def visitor(
    *, people: str | None = PEOPLE, file: Path | None = None, header: str | None = None,
    at: str = "http://localhost", peer: str = "127.0.0.1",
) -> TestClient:  # fmt: skip
    options = ServerOptions(logins=Logins.parse(people) if people else None, user_header=header)
    return TestClient(
        protect(hello, options, sessions=file),
        base_url=at,
        client=(peer, 1),
        follow_redirects=False,
    )


def log_in(client: TestClient, user: str, password: str, **more: str) -> int:
    content = urlencode({"user": user, "password": password})
    kind = {"content-type": "application/x-www-form-urlencoded", **more}
    return client.post("/login", content=content, headers=kind).status_code


def test_a_form_instead_of_a_browsers_question_and_a_session_after_it() -> None:
    client = visitor()
    asked = client.get("/", headers=HTML)
    assert asked.status_code == 401 and "www-authenticate" not in asked.headers
    assert '<form method="post" action="login">' in asked.text and "autocomplete" in asked.text
    assert 'action="../login"' in client.get("/some/place", headers=HTML).text
    assert log_in(client, "ann", "two") == 401 and client.get("/").status_code == 401
    assert log_in(client, " ann ", "one") == 303
    cookie = client.cookies[COOKIE]
    assert len(cookie) > 40
    assert client.get("/").text == "hello ann"
    assert client.get("/session").json() == {"user": "ann", "by": "session"}
    assert client.get("/login").status_code == 303
    assert client.post("/logout").status_code == 303
    assert COOKIE not in client.cookies and client.get("/").status_code == 401
    client.cookies.set(COOKIE, cookie)  # somebody has kept it: it is worth nothing any more
    assert client.get("/").status_code == 401


def test_the_cookie_is_for_no_script_and_no_other_site() -> None:
    content = urlencode({"user": "bob", "password": "two"})
    for at, secure in (("http://localhost", False), ("https://localhost", True)):
        set_cookie = visitor(at=at).post("/login", content=content).headers["set-cookie"].lower()
        assert "httponly" in set_cookie and "samesite=lax" in set_cookie
        assert ("secure" in set_cookie) is secure


def test_a_page_elsewhere_cannot_log_anybody_in_or_out() -> None:
    client = visitor()
    assert log_in(client, "ann", "one", origin="http://evil.example") == 403
    assert log_in(client, "ann", "one") == 303
    out = client.post("/logout", headers={"origin": "http://evil.example"})
    assert out.status_code == 403 and client.get("/").text == "hello ann"


def test_a_script_of_the_page_is_refused_without_a_browsers_question() -> None:
    refused = visitor().get("/conversations", headers={"sec-fetch-mode": "cors"})
    assert refused.status_code == 401 and "www-authenticate" not in refused.headers
    assert "www-authenticate" in visitor().get("/conversations").headers  # for programs


def test_sessions_outlive_the_server_and_end_with_the_password(tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    first = visitor(file=file)
    assert log_in(first, "ann", "one") == 303 and log_in(first, "bob", "two") == 303
    token = first.cookies[COOKIE]
    assert file.stat().st_mode & 0o777 == 0o600 and token not in file.read_text()
    for people, status in ((PEOPLE, 200), ("bob:new", 401), ("ann:one", 401)):
        later = visitor(file=file, people=people)
        later.cookies.set(COOKIE, token)
        assert later.get("/").status_code == status
    file.write_text("[1]")
    assert visitor(file=file).get("/").status_code == 401


def test_servers_of_one_corpus_share_their_sessions(tmp_path: Path) -> None:
    file = tmp_path / "sessions.json"
    one, other = visitor(file=file), visitor(file=file)  # both have started before anybody comes
    assert log_in(one, "ann", "one") == 303
    token = one.cookies[COOKIE]
    other.cookies.set(COOKIE, token)
    assert other.get("/").text == "hello ann"
    assert one.post("/logout").status_code == 303
    assert other.get("/").status_code == 401
    other.cookies.clear()
    assert log_in(other, "bob", "two") == 303  # what it saves brings nobody back
    assert log_in(one, "ann", "one") == 303  # and this loses nobody
    later = visitor(file=file)
    for kept, status in ((token, 401), (one.cookies[COOKIE], 200), (other.cookies[COOKIE], 200)):
        later.cookies.clear()
        later.cookies.set(COOKIE, kept)
        assert later.get("/").status_code == status


def test_what_cannot_be_saved_holds_in_memory_until_it_can(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    file, logins = folder / "sessions.json", Logins.parse(PEOPLE)
    one, other = Sessions(logins, file=file), Sessions(logins, file=file)
    ended = one.begin("ann")
    folder.rename(tmp_path / "away")
    folder.touch()  # a file in the place of the folder: nothing can be written
    one.end(ended)
    begun = one.begin("bob")
    assert one.user(ended) is None and one.user(begun) == "bob"
    folder.unlink()
    (tmp_path / "away").rename(folder)
    assert one.user(ended) is None and one.user(begun) == "bob" and other.user(begun) is None
    one.begin("bob")
    assert other.user(ended) is None and other.user(begun) == "bob"


def test_a_session_is_over_after_its_time() -> None:
    now = 0.0
    sessions = Sessions(Logins.parse(PEOPLE), clock=lambda: now)
    token = sessions.begin("bob")
    now = LIFETIME - 1
    assert sessions.user(token) == "bob"
    now = LIFETIME
    assert sessions.user(token) is None and sessions.user("") is None


def test_wrong_passwords_of_one_lock_out_nobody_else_and_no_session() -> None:
    client, bob = visitor(), visitor()
    assert log_in(client, "ann", "one") == 303
    for _ in range(FREE):
        assert client.get("/", headers=HTML, auth=("ann", "guess")).status_code == 200  # session
        assert log_in(client, "ann", "guess") == 401
    assert log_in(client, "ann", "one") == 429
    form = client.post("/login", content=urlencode({"user": "ann", "password": "one"}))
    assert "Try again in 2 s" in form.text and form.headers["retry-after"] == "2"
    assert client.get("/").text == "hello ann"  # who is in stays in
    assert log_in(client, "bob", "two") == 303  # from the same address
    assert log_in(bob, "bob", "two") == 303


def test_a_proxy_is_believed_from_its_own_address_only() -> None:
    header = {b"x-forwarded-user": "Jörg".encode(), b"x-forwarded-for": b"203.0.113.9"}
    assert visitor(people=None, header="X-Forwarded-User").get("/", headers=header).text == (
        "hello Jörg"
    )
    far = visitor(people=None, header="X-Forwarded-User", peer="203.0.113.9")
    assert far.get("/", headers=header).status_code == 401
    assert visitor(header=None).get("/", headers=header).status_code == 401  # off by default
    near = visitor(people=None, header="X-Forwarded-User")
    for name in ("", " ", "x" * 65, "a\tb"):
        refused = near.get("/", headers={**HTML, "x-forwarded-user": name})
        assert refused.status_code == 401 and "<form" not in refused.text
    assert near.get("/session", headers=header).json() == {"user": "Jörg", "by": "proxy"}


def test_beside_a_proxy_people_may_log_in_too() -> None:
    client = visitor(header="X-User")
    assert client.get("/", headers={"x-user": "eve"}).text == "hello eve"
    assert client.get("/", auth=("bob", "two")).text == "hello bob"


@pytest.mark.parametrize("language", ["de", "en"])
def test_the_form_speaks_the_language_of_the_browser(language: str) -> None:
    page = visitor().get("/", headers={**HTML, "accept-language": language}).text
    assert f'<html lang="{language}">' in page
    assert ("Anmelden" in page) is (language == "de")
