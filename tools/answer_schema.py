"""Write docs/answer.schema.json, which `tests/generator/test_answer_json.py` compares."""

from __future__ import annotations

import json
from pathlib import Path

from generator.answer_json import schema

PAGE = Path(__file__).resolve().parents[1] / "docs" / "answer.schema.json"

if __name__ == "__main__":
    about = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Answer"}
    PAGE.write_text(json.dumps({**about, **schema()}, indent=2) + "\n", encoding="utf-8")
