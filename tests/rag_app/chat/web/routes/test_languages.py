"""What the scripts of the page say, in the language of whoever asks."""

from __future__ import annotations

import json
import re

import httpx

from tests.rag_app.chat.served_corpus import Served
from tests.waiting import PATIENCE

GERMAN = {"Accept-Language": "de-AT,de;q=0.8,en;q=0.5"}


def test_scripts_have_their_words(served: Served) -> None:
    script = httpx.get(f"{served.address}/words.js", headers=GERMAN, timeout=PATIENCE)
    found = re.search(r"const ragAppLanguage = (\{.*\});", script.text)
    assert found is not None
    language = json.loads(found[1])
    assert (language["code"], language["locale"]) == ("de", "de-AT")
    assert language["messages"]["Not found"] == "Nicht gefunden"
    assert script.headers["content-type"].startswith("text/javascript")
    assert script.headers["cache-control"] == "no-cache"


def test_errors_of_uploads_are_in_that_language(served: Served) -> None:
    refused = httpx.post(
        f"{served.address}/files", headers={**GERMAN, "X-Name": "a.exe"}, timeout=PATIENCE
    )
    assert refused.status_code == 422
    assert refused.json()["error"].startswith("hat ein Format, das nicht gelesen werden kann")
