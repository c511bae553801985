"""The page's events as any program can send them, with whatever it likes."""

from __future__ import annotations

import json
import secrets
from typing import Any

import httpx

LONG = {"add_samples"}  # which names no document, and has six to be read
MEASUREMENTS = {"measured", "positions"}  # outputs of events that take minutes and name no document

Json = dict[str, Any]


class PageEvents:
    """The events of a page, for one person.

    Args:
        client: Logged in.
    """

    def __init__(self, client: httpx.Client) -> None:
        self._client = client
        config = client.get("/config").json()
        self._kinds = {each["id"]: each["type"] for each in config["components"]}
        self._ids = {each["id"]: each["props"].get("elem_id") for each in config["components"]}
        self._events = {
            event["id"]: event
            for event in config["dependencies"]
            if event["backend_fn"]
            and not (
                event["inputs"] and {self._ids[out] for out in event["outputs"]} & MEASUREMENTS
            )
            and not {name for _, name in event["targets"]} & LONG
        }

    @property
    def names(self) -> dict[int, str]:
        """What triggers each event, by its number; "then" for one that follows another."""
        return {
            number: next((name for _, name in event["targets"] if name), "then")
            for number, event in self._events.items()
        }

    @property
    def views(self) -> list[int]:
        """The numbers of events that show or change a register or names."""
        shows = {"register", "names", "proposals"}
        return [
            number
            for number, event in self._events.items()
            if shows & {self._ids[out] for out in event["outputs"]}
        ]

    def send(self, number: int, browser: Json, value: object, question: str) -> str:
        """All that comes back to an event, sent with what a browser stores and what was clicked."""
        event = self._events[number]
        inputs = {"browserstate": browser, "textbox": question, "radio": "quote", "number": 2}
        session = secrets.token_hex(6)
        body = {
            "fn_index": number,
            "data": [inputs.get(self._kinds[each]) for each in event["inputs"]],
            "event_data": {"value": value},
            "session_hash": session,
            "trigger_id": next((each for each, _ in event["targets"]), None),
        }
        joined = self._client.post("/gradio_api/queue/join", json=body)
        assert joined.status_code == 200, joined.text
        parts = []
        url = "/gradio_api/queue/data"
        with self._client.stream("GET", url, params={"session_hash": session}) as stream:
            for line in stream.iter_lines():
                if not line.startswith("data: "):  # the number of the message, or nothing
                    continue
                message = json.loads(line.removeprefix("data: "))
                parts.append(json.dumps(message.get("output"), ensure_ascii=False))
                if message.get("msg") in {"process_completed", "close_stream"}:
                    break
        return "\n".join(parts)
