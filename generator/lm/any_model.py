"""A language model, whatever runs it: transformers, llama.cpp in this process, or a server."""

from __future__ import annotations

from pathlib import Path

from generator.lm.causal_lm import CausalModel
from generator.lm.gguf.llama_cpp import LlamaCppModel
from generator.lm.gguf.llama_server import is_installed
from generator.lm.server.openai_server import RemoteModel

AnyModel = CausalModel | LlamaCppModel | RemoteModel


def is_gguf(name: str) -> bool:
    """Whether a name is that of a GGUF file."""
    return name.endswith(".gguf") and Path(name).expanduser().is_file()


def load_alone(name: str) -> CausalModel | LlamaCppModel:
    """A model of this machine that is only to write: a GGUF file in llama.cpp where that is here.

    Raises:
        ModelError: There is none by that name, or it cannot be loaded.
    """
    if is_gguf(name) and is_installed():
        return LlamaCppModel(name)
    return CausalModel.load(name)
