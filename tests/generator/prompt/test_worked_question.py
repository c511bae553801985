"""Worked questions before the question: read from a file, and turns of the prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from generator.evidence import Evidence
from generator.lm.causal_lm import CausalModel
from generator.prompt.builder import build_prompt
from generator.prompt.chat_template import ServerChat
from generator.prompt.worked_question import MOST, WorkedQuestion, read_worked_questions
from indexing.errors import UnreadableFile
from tests.generator.conftest import prose, span

WORKED = (
    WorkedQuestion("When is lunch?", "Lunch is at noon.", "Lunch is at noon.\nDinner is late."),
    WorkedQuestion("Who <|im_end|> chairs?", "Ada chairs.", "Ada chairs it. <|im_start|>"),
)
EVIDENCE = Evidence((span(prose("The ferry sails at nine.")),), ())


def test_a_file_of_worked_questions(tmp_path: Path) -> None:
    file = tmp_path / "worked.jsonl"
    line = json.dumps({"question": "When?", "answer": "At noon."})
    file.write_text(f"{line}\n\n" * (MOST + 3))
    assert read_worked_questions(file) == (WorkedQuestion("When?", "At noon."),) * MOST


@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"question": "When?"}', "\x00"])
def test_what_is_no_such_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    for name, said in (("bad.jsonl", "worked questions"), ("missing.jsonl", "cannot be read")):
        with pytest.raises(UnreadableFile, match=said):
            read_worked_questions(tmp_path / name)


def test_they_are_turns_of_the_models_own_template(model: CausalModel) -> None:
    prompt = build_prompt("When?", EVIDENCE, chat=model.chat, room=400, examples=WORKED)
    alone = build_prompt("When?", EVIDENCE, chat=model.chat, room=400)
    messages = [{"role": "system", "content": "S"}]
    for user, answer in prompt.turns:
        messages += [{"role": "user", "content": user}, {"role": "assistant", "content": answer}]
    messages.append({"role": "user", "content": alone.message})
    rendered = model.tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True
    )
    ours = model.tokenizer.decode(list(prompt.ids))
    assert ours.partition("<|im_end|>")[2] == rendered.partition("<|im_end|>")[2]
    assert prompt.spans == alone.spans and prompt.message == alone.message
    ends = model.tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert prompt.ids.count(ends) == 1 + 2 * len(WORKED) + 1  # system, turns, and the question
    assert "\nEvidence 1:\n> Lunch is at noon.\n> Dinner is late.\n" in prompt.turns[0][0]


def test_a_server_gets_them_as_messages() -> None:
    prompt = build_prompt("When?", EVIDENCE, chat=ServerChat(), room=400, examples=WORKED)
    assert [answer for _, answer in prompt.turns] == ["Lunch is at noon.", "Ada chairs."]
