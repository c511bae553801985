"""What runs a language model: a server, llama.cpp in this process, or transformers."""

from __future__ import annotations

from pathlib import Path

from generator.lm.any_model import AnyModel, is_gguf
from generator.lm.calibration_record import find_record
from generator.lm.causal_lm import ADAPTERS, CausalModel
from generator.lm.gguf.llama_cpp import WINDOW, LlamaCppModel
from generator.lm.gguf.llama_server import INSTALL, is_installed
from generator.lm.server.openai_server import RemoteModel
from generator.settings import GeneratorSettings
from indexing.message import Notify
from indexing.models.files import DEFAULT_GENERATOR, content_hash
from indexing.models.server.server_name import is_remote


def against_llama_cpp(settings: GeneratorSettings) -> str:
    """Why a GGUF file is to run in transformers, in a few words; "" where llama.cpp runs it."""
    if not is_installed():
        return f"llama.cpp is not installed; {INSTALL}"
    if needs := settings.needs_inside:
        return f"{needs} needs the inside of a model, which llama.cpp does not show"
    if settings.ms_poe == "calibrated":
        file = Path(settings.model).expanduser()
        record = find_record(settings.model, content_hash([file]))
        if record is not None and record.method is not None:
            return "its positions are rescaled, as calibration found to help"
    return ""


def load_model(
    settings: GeneratorSettings, *, notify: Notify | None = None, key: str | None = None
) -> AnyModel:
    """The model that the settings name, in what suits them.

    Under the decoding "quotes", the packaged model has the writer's adapters. The key is for a
    server, as of `RemoteModel`.

    Raises:
        ModelError: There is none by that name, or it cannot be loaded.
        InvalidRequest: The name of a server's model is not of the form `openai:BASE_URL#MODEL`.
    """
    name = settings.model
    if is_remote(name):
        return RemoteModel(name, key=key)
    if is_gguf(name) and not against_llama_cpp(settings):
        room = (settings.budget_tokens or 0) + settings.history_tokens + settings.max_new_tokens
        return LlamaCppModel(name, window=max(WINDOW, room), notify=notify)
    writer = settings.usual_decoding == "quotes" and name == DEFAULT_GENERATOR
    return CausalModel.load(name, notify=notify, adapters=ADAPTERS if writer else None)


def describe_engine(model: AnyModel, settings: GeneratorSettings) -> str:
    """What runs a model, and why, for a person to read."""
    if isinstance(model, RemoteModel):
        return f"the server at {model.url}"
    if isinstance(model, LlamaCppModel):
        return "llama.cpp, quantized as in the file"
    if is_gguf(settings.model):
        return f"transformers ({against_llama_cpp(settings)})"
    return "transformers"
