"""LangChain's unit tests of the chat model, for which no model is loaded."""

from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_tests.unit_tests import ChatModelUnitTests

from rag_app.langchain import ChatRagApp


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
