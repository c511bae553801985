"""Whole documents or passages: what the window, the device and the person say."""

from __future__ import annotations

from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

from generator import evidence_budget as cache_size
from generator.evidence import Embed
from generator.evidence_budget import (
    CPU_TOKENS,
    LONG_WINDOW,
    PASSAGE_TOKENS,
    bytes_per_token,
    choose_budget,
    free_memory,
)
from generator.generator import Generator
from generator.lm.causal_lm import CausalModel
from generator.lm.server.openai_server import RemoteModel
from generator.ms_poe.position_method import active_settings
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from indexing.models.files import generator_weights
from tests.generator.conftest import hit, prose
from tests.generator.openai_server import running

QUESTION = "Where does the ferry of day 7 sail?"
WINDOW = 40_000


@pytest.fixture(scope="module")
def long_model(tmp_path_factory: pytest.TempPathFactory) -> CausalModel:
    """A small random model with a long window, saved to disk and loaded from there."""
    folder = tmp_path_factory.mktemp("long")
    config = transformers.LlamaConfig(
        vocab_size=49152, hidden_size=16, intermediate_size=16, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=WINDOW,
        initializer_range=0.5,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(5)
        transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(generator_weights().folder)
    tokenizer.model_max_length = WINDOW
    tokenizer.save_pretrained(folder)
    return CausalModel.load(str(folder), device="cpu")


def ferries(name: str, days: int) -> Any:
    """A document of sentences, five thousand tokens for three hundred days."""
    lines = (f"On day {n} the ferry of {name} sails to harbour {n * 7}." for n in range(days))
    return prose(" ".join(lines), name=name)


def asked(model: CausalModel, embed: Embed, documents: list[Any], **how: Any) -> Any:
    settings = GeneratorSettings(model="long", max_new_tokens=5, **how)
    hits = [hit(one, (0, 60), score=9.0 - rank) for rank, one in enumerate(documents)]
    retrieval = Retrieval(hits, {one.id: one for one in documents}.__getitem__)
    generator = Generator(settings, embed=embed, load=lambda: model)
    with closing(generator):
        return generator.answer(AskRequest(QUESTION, abstain=False), retrieval)


def test_documents_are_read_whole(long_model: CausalModel, embed: Embed) -> None:
    documents = [ferries("aster", 300), ferries("briar", 200)]
    answer = asked(long_model, embed, documents, evidence="documents")
    assert answer.mode == "free"  # quotes would read none of them
    assert [(one.kept, one.dropped) for one in answer.context] == [
        (long_model.count(one.text), 0) for one in documents
    ]
    assert sum(one.kept for one in answer.context) > 2 * PASSAGE_TOKENS
    assert answer.configuration["shown"] == "documents: 2 whole"
    passages = asked(long_model, embed, documents, evidence="passages", answer="free")
    assert all(one.dropped for one in passages.context)
    assert "shown" not in passages.configuration


def test_what_does_not_fit_is_said(long_model: CausalModel, embed: Embed) -> None:
    documents = [ferries("aster", 200), ferries("briar", 300), ferries("cedar", 100)]
    answer = asked(long_model, embed, documents, evidence="documents", budget_tokens=6000)
    first, second, third = answer.context
    assert (first.dropped, third.kept) == (0, 0)
    assert 0 < second.kept < second.tokens
    assert answer.configuration["shown"] == (
        f"documents: 1 whole, Briar cut at a sentence ({second.kept:,} of {second.tokens:,} "
        "tokens), 1 left out, as there is no room"
    )
    for citation in answer.citations:
        text = next(one.text for one in documents if one.id == citation.document)
        assert text[citation.start : citation.end] == citation.quote


def test_ms_poe_goes_with_whole_documents(long_model: CausalModel, embed: Embed) -> None:
    documents = [ferries("aster", 60)]
    plain = asked(long_model, embed, documents, evidence="documents")
    answer = asked(long_model, embed, documents, evidence="documents", ms_poe="on")
    assert answer.configuration["Ms-PoE"].startswith("ms-poe 1.2-1.8")
    assert answer.context == plain.context
    assert active_settings(long_model.model) is None


def test_auto_follows_window_and_device(long_model: CausalModel, tiny_model: CausalModel) -> None:
    on_cpu = choose_budget("auto", long_model, answer=200)
    assert not on_cpu.documents and "on a CPU" in on_cpu.reason
    assert on_cpu.tokens == CPU_TOKENS
    short = choose_budget("auto", tiny_model, answer=200)
    assert not short.documents and "2,048" in short.reason
    gpu: Any = SimpleNamespace(window=WINDOW, device=SimpleNamespace(type="cuda"), name="gpu")
    long = choose_budget("auto", gpu, answer=200)
    assert long.documents and long.tokens == WINDOW - 200
    less = choose_budget("auto", gpu, answer=200, most=9000)
    assert less.documents and less.tokens == 9000
    assert choose_budget("passages", gpu, answer=200, most=500).tokens == 500
    gpu.window = LONG_WINDOW - 1
    assert not choose_budget("auto", gpu, answer=200).documents


def test_memory_limits_documents(long_model: CausalModel, monkeypatch: pytest.MonkeyPatch) -> None:
    each = bytes_per_token(long_model.model)
    cache = long_model.model(torch.arange(7)[None]).past_key_values
    held = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    assert each == held // 7
    assert each is not None
    room = 2 * each * 1000
    monkeypatch.setattr(cache_size, "free_memory", lambda _: room)
    assert choose_budget("documents", long_model, answer=200).tokens == 1000
    monkeypatch.setattr(cache_size, "free_memory", lambda _: None)
    assert choose_budget("documents", long_model, answer=200).tokens == WINDOW - 200
    free = free_memory(torch.device("cpu"))
    assert free is None or free > 1 << 20
    gpt = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=16, n_layer=1, n_head=2))
    assert bytes_per_token(gpt) == 2 * 16 * 4


def test_a_server_of_unknown_window() -> None:
    far = RemoteModel("openai:http://127.0.0.1:9/v1#far")
    assert far.window is None
    assert not choose_budget("auto", far, answer=200).documents
    with pytest.raises(InvalidRequest, match="--prompt-tokens"):
        choose_budget("documents", far, answer=200)
    assert choose_budget("documents", far, answer=200, most=20_000).tokens == 20_000


def test_what_cannot_be_asked_for(tiny_model: CausalModel, embed: Embed) -> None:
    with pytest.raises(InvalidRequest, match="no evidence 'books'"):
        GeneratorSettings(evidence="books")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="no evidence 'books'"):
        AskRequest("Why?", evidence="books")  # type: ignore[arg-type]
    with pytest.raises(InvalidRequest, match="rag-token reads no whole documents"):
        GeneratorSettings(evidence="documents", decoding="rag-token")
    generator = Generator(GeneratorSettings("x", decoding="quotes"), embed=embed,
                          load=lambda: tiny_model)  # fmt: skip
    document = prose("The ferry sails at nine.")
    retrieval = Retrieval([hit(document)], {document.id: document}.__getitem__)
    request = AskRequest("When?", evidence="documents", abstain=False)
    with pytest.raises(InvalidRequest, match="--decoding concat"):
        generator.answer(request, retrieval)


def test_quotes_say_that_they_are_of_passages(embed: Embed) -> None:
    document = prose("The ferry sails at nine. Its captain is Joan Reyes.")
    retrieval = Retrieval([hit(document)], {document.id: document}.__getitem__)
    generator = Generator(GeneratorSettings(evidence="documents"), embed=embed)
    answer = generator.answer(AskRequest("Who is the captain?", "quote", abstain=False), retrieval)
    assert answer.mode == "quote"
    assert "--mode free reads whole documents" in answer.configuration["shown"]


def test_the_packaged_model_reads_documents_in_one_prompt() -> None:
    assert GeneratorSettings().usual_decoding == "quotes"
    assert GeneratorSettings(evidence="documents").usual_decoding == "concat"
    assert GeneratorSettings().decoding_of("documents") == "concat"


def test_the_packaged_model_takes_what_its_window_holds(model: CausalModel) -> None:
    budget = choose_budget("documents", model, answer=200)
    assert (budget.documents, budget.tokens) == (True, 8192 - 200)
    assert not choose_budget("auto", model, answer=200).documents


def test_windows_that_a_server_states() -> None:

    with running() as url:
        windows = [
            RemoteModel(f"openai:{url}#{name}").window for name in ("good", "whole", "slow", "x")
        ]
    assert windows == [40_960, 4096, None, None]
