"""A tab of a browser with the page open: its requests to the server, without the browser."""

from __future__ import annotations

import json
import secrets
import threading
from contextlib import suppress
from typing import Any

import httpx

TIMEOUT = 300.0  # seconds without a byte, heartbeats included

Json = Any


class PageFailed(Exception):
    """The server answered an event of the page with an error."""


class Tab:
    """The page, opened at an address; its events by the names of their handlers.

    Args:
        address: Of the server.
        browser: What the browser has stored: its key, and the open conversation.
        login: Name and password; None where nobody logs in.

    Raises:
        httpx.HTTPError: The server cannot be reached, or refuses. So do all methods.
        PageFailed: An event failed. So does `send`.
    """

    def __init__(
        self, address: str, browser: Json = None, login: tuple[str, str] | None = None
    ) -> None:
        self.http = httpx.Client(base_url=address, timeout=TIMEOUT)
        try:
            if login is not None:
                self._log_in(*login)
            config = self.http.get("/config").raise_for_status().json()
            self._api, self._session = config["api_prefix"], secrets.token_hex(6)
            self._events: dict[str, Json] = {}
            for each in config["dependencies"]:
                self._events.setdefault(each["api_name"], each)
            self._acts = {each["targets"][0][1]: each for each in config["dependencies"][::-1]}
            self._ids = {each["props"].get("elem_id"): each["id"] for each in config["components"]}
            threading.Thread(target=self._hold, daemon=True).start()
            shown = self.send("load", [browser])
        except BaseException:
            self.close()
            raise
        self.browser, self.documents = shown[5], self.documents_in("load", shown)

    def watch(self) -> None:
        """Wait until all uploaded files are indexed, and list the documents again."""
        self.send("watch", [self.browser])  # whose last update says only what has changed
        self.documents = self.documents_in("load", self.send("load", [self.browser]))

    def documents_in(self, name: str, shown: list[Json]) -> str:
        """The list of documents, as HTML, among what an event shows."""
        return str(shown[self._events[name]["outputs"].index(self._ids["documents"])])

    def _log_in(self, user: str, password: str) -> None:
        sent = self.http.post("/login", data={"user": user, "password": password})
        if sent.status_code != httpx.codes.SEE_OTHER:
            raise PageFailed(f"{user} was not let in: {sent.status_code}")

    def log_out(self) -> None:
        """Log out; nothing is answered any more."""
        self.http.post("/logout")
        if self.http.get("/config").status_code != httpx.codes.UNAUTHORIZED:
            raise PageFailed("the page is shown to somebody who has logged out")

    def close(self) -> None:
        """Close the tab; the server forgets its session."""
        self.http.close()

    def send(self, name: str, values: list[Json], *, value: Json = None) -> list[Json]:
        """Send an event and wait for its end; the new values of its components.

        Args:
            name: Of the handler, or of the event.
            values: Of the components it reads.
            value: That of the element which was clicked.
        """
        event = self._events.get(name) or self._acts[name]
        body = {
            "data": values,
            "fn_index": event["id"],
            "trigger_id": event["targets"][0][0],
            "session_hash": self._session,
            "event_data": {"value": value},
        }
        response = self.http.post(f"{self._api}/queue/join", json=body).raise_for_status()
        return self._result(response.json()["event_id"], name)

    def _result(self, id_: str, name: str) -> list[Json]:
        query = {"session_hash": self._session}
        with self.http.stream("GET", f"{self._api}/queue/data", params=query) as stream:
            for line in stream.raise_for_status().iter_lines():
                message = json.loads(line[5:]) if line.startswith("data:") else {}
                if message.get("msg") == "process_completed" and message["event_id"] == id_:
                    if not message["success"]:
                        raise PageFailed(f"{name}: {message['output'].get('error')}")
                    result: list[Json] = message["output"]["data"]
                    return result
        raise PageFailed(f"{name}: the stream ended before its answer")

    def _hold(self) -> None:
        """Keep the session as a page does: by a request that lasts as long as the tab."""
        address = f"{self._api}/heartbeat/{self._session}"
        with (
            suppress(httpx.HTTPError, RuntimeError),  # closed, with or without the server
            self.http.stream("GET", address, timeout=None) as stream,
        ):
            for _ in stream.iter_raw():
                continue
