"""Messages in files are messages again when they are read, and damaged ones their texts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from indexing.message import N_, Message, joined
from rag_app.chat.conversation import Conversation, Exchange, from_json, to_json
from rag_app.chat.language.current import speaking, usual
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.language.message_table import with_table, without_table
from rag_app.chat.upload_records import UploadRecords

NOTE = joined([N_("has no page %(number)s", number=7), N_("split it")])
GERMAN = "hat keine Seite 7; teilen Sie die Datei auf"


def read_again(values: dict[str, Any]) -> Any:
    return without_table(json.loads(json.dumps(with_table(values))))


def test_values_are_the_same_again_with_their_messages() -> None:
    values = {"a": [{"note": NOTE}, "has no page 7", 5, None], "b": {"c": "has no page 7"}}
    again = read_again(values)
    assert again == values and isinstance(again["a"][0]["note"], Message)
    assert with_table({"a": "x", "b": N_("split it")}).keys() == {"a", "b"}
    assert without_table("x") == "x"


@pytest.mark.parametrize("table", [5, {"has no page 7": 5}, {"has no page 7": ["%(a)s", {}]}, []])
def test_a_damaged_table_leaves_the_texts(table: object) -> None:
    again = without_table({"a": "has no page 7", "messages": table})
    assert again == {"a": "has no page 7"} and not isinstance(again["a"], Message)


def test_what_an_answer_and_an_upload_say_is_german_after_a_restart(tmp_path: Any) -> None:
    exchange = Exchange("why?", state="failed", note=NOTE)
    saved = from_json(to_json(Conversation("0" * 16, "2026-11-26", (exchange,))))
    records = UploadRecords(tmp_path)
    content = records.new_content()
    content.write_text("x")
    status = records.keep(content, "a.txt", "waiting")
    records.save(type(status)(status.id, status.name, "failed", note=NOTE))
    records.close()
    (upload,) = UploadRecords(tmp_path).adopt()
    with speaking(usual("de")):
        assert translated(saved.exchanges[0].note) == translated(upload.note) == GERMAN
