"""The language model as LangChain's chat model, by LangChain's own tests and beside the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_tests.integration_tests import ChatModelIntegrationTests
from langchain_tests.unit_tests import ChatModelUnitTests

from generator.lm.causal_lm import CausalModel
from generator.ms_poe.method import MsPoE
from generator.ms_poe.position_method import active_settings
from generator.prompt.chat_template import ChatMessage
from indexing.errors import InvalidRequest, ModelNotFound
from indexing.models.files import DEFAULT_GENERATOR, generator_weights
from rag_app.langchain import ChatRagApp

SHORT = {"max_tokens": 6}  # what is tested holds for six tokens as for six hundred
OTHER = str(generator_weights(DEFAULT_GENERATOR).folder)  # the same weights by another name


@pytest.fixture(scope="module", autouse=True)
def shared() -> Iterator[CausalModel]:
    """Holds on to the weights, so that every chat model here shares them.

    In float32, where a kept beginning of a prompt changes no choice between two likely tokens.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("generator.lm.causal_lm.best_dtype", lambda _: torch.float32)
        holder = ChatRagApp()
        holder._load(OTHER)
        yield holder._load(DEFAULT_GENERATOR)


class TestIntegration(ChatModelIntegrationTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return ChatRagApp

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return SHORT

    @property
    def enable_vcr_tests(self) -> bool:
        """Nothing goes over a network, so there is nothing to record."""
        return True

    @property
    def model_override_value(self) -> str:
        """Loaded beside the default."""
        return OTHER


QUESTION = [SystemMessage("Answer in a word."), HumanMessage("What is the capital of France?")]


def test_the_answer_is_that_of_the_model(shared: CausalModel) -> None:
    said = [ChatMessage("system", QUESTION[0].text), ChatMessage("user", QUESTION[1].text)]
    ids = shared.chat.conversation(said).ids
    wanted = "".join(shared.stream(ids, max_new_tokens=12))
    answer = ChatRagApp(max_tokens=12).invoke(QUESTION)
    assert answer.text == wanted and "Paris" in wanted


def test_pieces_come_one_by_one_and_what_they_take_comes_last() -> None:
    chunks = list(ChatRagApp(max_tokens=5).stream("Count: one, two, three,"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert len([chunk for chunk in chunks if chunk.text]) > 2
    assert whole.text == ChatRagApp(max_tokens=5).invoke("Count: one, two, three,").text
    taken = whole.usage_metadata
    assert taken is not None and taken["output_tokens"] == 5
    messages = [HumanMessage("Count: one, two, three,")]
    assert taken["input_tokens"] == ChatRagApp().get_num_tokens_from_messages(list(messages))
    assert whole.response_metadata["finish_reason"] == "length"


async def test_a_thread_streams_the_same() -> None:
    model = ChatRagApp(max_tokens=5)
    pieces = [chunk.text async for chunk in model.astream("Name a river.")]
    assert "".join(pieces) == model.invoke("Name a river.").text


@pytest.mark.parametrize("how", ["of the model", "of the call"])
def test_a_stop_text_ends_the_answer_and_is_not_part_of_it(how: str) -> None:
    whole = ChatRagApp(max_tokens=12).invoke(QUESTION).text
    stop = whole[len(whole) // 2 :]
    if how == "of the model":
        answer = ChatRagApp(max_tokens=12, stop=[stop]).invoke(QUESTION)
    else:
        answer = ChatRagApp(max_tokens=12, stop=["never"]).invoke(QUESTION, stop=[stop])
    assert answer.text == whole[: whole.index(stop)]
    assert answer.response_metadata["finish_reason"] == "stop"


def test_options_of_a_call_win() -> None:
    model = ChatRagApp(max_tokens=9)
    (two, warm, again) = (
        model.invoke("Name a colour.", max_tokens=2),
        model.invoke("Name a colour.", temperature=1.5, seed=3),
        ChatRagApp(max_tokens=9, temperature=1.5, seed=3).invoke("Name a colour."),
    )
    assert two.usage_metadata is not None and two.usage_metadata["output_tokens"] == 2
    assert warm.text == again.text != model.invoke("Name a colour.").text


def test_an_answer_ends_in_time() -> None:
    answer = ChatRagApp(timeout=1e-6).invoke("Tell me a long story.")
    assert answer.response_metadata["finish_reason"] == "timeout"
    assert answer.usage_metadata is not None and answer.usage_metadata["output_tokens"] == 1


def test_ms_poe_is_applied_for_as_long_as_the_chat_model_lives(shared: CausalModel) -> None:
    method = MsPoE(r_min=1.0, r_max=1.2)
    changed = ChatRagApp(ms_poe=method, max_tokens=8)
    ids = shared.chat.conversation([ChatMessage("user", "Name three rivers in Asia.")]).ids
    answer = changed.invoke("Name three rivers in Asia.")
    inner = changed._load(DEFAULT_GENERATOR)
    assert active_settings(inner.model) == method
    assert active_settings(shared.model) is None and inner is not shared
    shared.prefixes.clear()
    with method(shared):
        wanted = "".join(shared.stream(ids, max_new_tokens=8))
    shared.prefixes.clear()
    assert answer.text == wanted


def test_equal_settings_share_weights(shared: CausalModel) -> None:
    assert ChatRagApp(temperature=1.0)._load(DEFAULT_GENERATOR) is shared
    bound: Any = ChatRagApp(max_tokens=1).bind(seed=2)
    assert bound.bound._load(DEFAULT_GENERATOR) is shared


def test_tokens_are_counted_without_a_network(shared: CausalModel) -> None:
    assert ChatRagApp().get_num_tokens("  naïve 漢字") == shared.count("  naïve 漢字")


@pytest.mark.parametrize(
    ("messages", "what"),
    [
        ([ToolMessage("3", tool_call_id="1")], "cannot read a ToolMessage"),
        ([HumanMessage([{"type": "image", "url": "https://x.org/a.png"}])], "text only, not image"),
        (
            [AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "1"}])],
            "text only, not tool_call",
        ),
        ([HumanMessage("word " * 9000)], "drop its first messages"),
    ],
)
def test_what_the_model_cannot_read_is_said(messages: list[Any], what: str) -> None:
    with pytest.raises(InvalidRequest, match=what):
        ChatRagApp().invoke(messages)


def test_impossible_settings_are_said() -> None:
    with pytest.raises(InvalidRequest, match="unknown option tools"):
        ChatRagApp().invoke("hi", tools=[])
    with pytest.raises(InvalidRequest, match="it must be at least 1"):
        ChatRagApp().invoke("hi", max_tokens=0)
    with pytest.raises(InvalidRequest, match="langchain-openai"):
        ChatRagApp(model="openai:http://localhost/v1#x").invoke("hi")
    with pytest.raises(ModelNotFound):
        ChatRagApp(model="no-such-model").invoke("hi")
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        ChatRagApp(temperature=-1)


class TestUnit(ChatModelUnitTests):
    @property
    def chat_model_class(self) -> type[BaseChatModel]:
        return ChatRagApp

    @property
    def chat_model_params(self) -> dict[str, Any]:
        return {"seed": 7}


def test_traces_name_this_program_and_the_model() -> None:
    about = ChatRagApp(temperature=0.5, max_tokens=9, stop=["x"])._get_ls_params()
    assert about == {
        "ls_provider": "rag-app",
        "ls_model_type": "chat",
        "ls_model_name": "SmolLM2-135M-Instruct",
        "ls_temperature": 0.5,
        "ls_max_tokens": 9,
        "ls_stop": ["x"],
    }
