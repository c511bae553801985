"""Quotes that a model writes: only what is in the evidence, and the likeliest of that."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from generator.evidence import Embed, Evidence, Sentence, Span, evidence_sentences
from generator.extractive.decoding.constrained_decoding import decode_quotes
from generator.extractive.decoding.trie import Node, Trie
from generator.extractive.quote_length import QuoteLength
from generator.generator import Generator
from generator.lm.causal_lm import CausalModel
from generator.prompt.builder import build_prompt
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.errors import InvalidRequest
from tests.generator.conftest import hit, transcript

SEQUENCES = st.dictionaries(
    st.integers(0, 30), st.lists(st.integers(0, 3), min_size=1, max_size=5), max_size=12
)
QUESTION = "When does the ferry sail?"
MEETING = transcript(
    [
        ("Ana", "The ferry sails at nine o'clock. It sails from the north quay."),
        ("Bob", "The ferry sails at nine o'clock on Mondays only. Bring a coat."),
        ("Cara", "I would rather take the bus. Lunch is soup."),
    ]
)
RETRIEVAL = Retrieval([hit(MEETING)], {MEETING.id: MEETING}.__getitem__)


def endings(node: Node, path: tuple[int, ...] = ()) -> dict[int, tuple[int, ...]]:
    paths = dict.fromkeys(node.sequences, path)
    for token, child in node.children.items():
        paths |= endings(child, (*path, token))
    return paths


@given(SEQUENCES, st.data())
def test_trie_holds_what_was_put_in_and_not_taken_out(
    sequences: dict[int, list[int]], data: st.DataObject
) -> None:
    trie = Trie(sequences)
    removals = data.draw(st.sets(st.sampled_from(sorted(sequences)))) if sequences else set()
    for number in removals:
        trie.remove(number)
    remaining = {n: tuple(tokens) for n, tokens in sequences.items() if n not in removals}
    assert endings(trie.root) == remaining
    assert trie.root.count == len(remaining)
    for tokens in remaining.values():
        for cut in range(len(tokens)):
            follow = {t[cut : cut + 1] for t in remaining.values() if t[:cut] == tokens[:cut]}
            node = trie.descend(trie.root, tokens[:cut])
            assert {(token,) for token in node.children} == follow - {()}
            rest = trie.forced_tokens(node)
            same = [t for t in remaining.values() if t[:cut] == tokens[:cut]]
            assert all(t[cut : cut + len(rest)] == rest for t in same)


def evidence() -> Evidence:
    whole = (Span(MEETING, 0, len(MEETING.text), 1.0),)
    return Evidence(whole, whole)


def texts(quotes: Sequence[Sentence]) -> list[str]:
    return [quote.text for quote in quotes]


def by_brute_force(model: CausalModel, sentences: Sequence[Sentence], quotes: int) -> list[str]:
    """Greedy token by token over a full pass each, all sentences compared by their spelling."""
    prompt = list(build_prompt(QUESTION, evidence(), chat=model.chat, room=1500).ids)
    newline = list(model.chat.content("\n"))
    remaining = {s.text: list(model.chat.content(f"{s.speaker}: {s.text}")) for s in sentences}
    order: list[str] = []
    while remaining and len(order) < quotes:
        line: list[int] = []
        while True:
            going = {t: ids for t, ids in remaining.items() if ids[: len(line)] == line}
            allowed = {ids[len(line)] for ids in going.values() if len(ids) > len(line)}
            whole = [t for t, ids in going.items() if ids == line]
            allowed |= {newline[0]} if whole else set()
            allowed |= model.eos_token_ids if not line and order else set()
            with torch.inference_mode():
                scores = model.model(torch.tensor([prompt + line])).logits[0, -1].float()
            token = max(allowed, key=lambda t: float(scores[t]))
            if token in model.eos_token_ids and not line:
                return order
            if whole and (token == newline[0] or len(allowed) == 1):
                order.append(whole[0])
                prompt += remaining.pop(whole[0]) + newline
                break
            line.append(token)
    return order


def test_equals_full_passes_over_every_allowed_sentence(model: CausalModel) -> None:
    sentences = evidence_sentences(evidence().passages)
    length = QuoteLength(quotes=2, words=1000)
    quotes = list(decode_quotes(model, QUESTION, evidence(), sentences, length=length, room=1500))
    assert texts(quotes) == by_brute_force(model, sentences, 2)
    assert len(set(texts(quotes))) == len(quotes) > 0


def test_length_and_stop_end_it(model: CausalModel) -> None:
    sentences = evidence_sentences(evidence().passages)

    def quotes(length: QuoteLength, stop: threading.Event | None = None) -> list[str]:
        arguments = (model, QUESTION, evidence(), sentences)
        return texts(list(decode_quotes(*arguments, length=length, room=1500, stop=stop)))

    every = quotes(QuoteLength(quotes=3, words=1000))
    assert quotes(QuoteLength(quotes=1, words=1000)) == every[:1]
    assert quotes(QuoteLength(quotes=3, words=1)) == every[:1]
    stopped = threading.Event()
    stopped.set()
    assert quotes(QuoteLength(quotes=3, words=1000), stopped) == []


def test_only_sentences_that_were_shown_are_written(model: CausalModel) -> None:
    first = MEETING.text.index("Bob")
    shown = (Span(MEETING, 0, first, 1.0),)
    sentences = evidence_sentences(evidence().passages)
    evidence_of_one = Evidence(shown, evidence().whole)
    # what fits is the passage alone: the whole meeting is longer than the room
    room = len(build_prompt(QUESTION, Evidence(shown, shown), chat=model.chat, room=1500).ids)
    quotes = list(
        decode_quotes(model, QUESTION, evidence_of_one, sentences, length=QuoteLength(), room=room)
    )
    assert quotes and all(quote.end <= first for quote in quotes)


def test_answers_of_decoded_quotes_are_verbatim(model: CausalModel, embed: Embed) -> None:
    settings = GeneratorSettings(quotes="decoded")
    generator = Generator(settings, embed=embed, load=lambda: model)
    answer = generator.answer(AskRequest(QUESTION), RETRIEVAL)
    assert answer.mode == "quote" and answer.model == model.name and answer.citations
    for citation in answer.citations:
        assert MEETING.text[citation.start : citation.end] == citation.quote
        assert citation.verified and f"[{citation.marker}]" in answer.text
    ranked = Generator(replace(settings, quotes="ranked"), embed=embed, load=lambda: model)
    assert ranked.answer(AskRequest(QUESTION), RETRIEVAL).model == ""


def test_an_unknown_way_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="ranked, decoded"):
        GeneratorSettings(quotes="guessed")
