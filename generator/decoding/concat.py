"""One prompt with all the evidence: the simplest way to decode over documents."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace

from generator.answer import CONVERSATION, ContextEntry
from generator.decoding.base import DecodingLimits, DecodingRun, prompt_room
from generator.evidence import Evidence, Span
from generator.lm.causal_lm import CausalModel
from generator.prompt.builder import Prompt, build_prompt, continue_prompt, ledger, quote_history
from generator.prompt.follow_up import PromptState, Turn
from generator.request import AskRequest


def concat(
    model: CausalModel,
    request: AskRequest,
    evidence: Evidence,
    limits: DecodingLimits,
    stop: threading.Event | None = None,
) -> DecodingRun:
    """Read all the evidence at once and write the answer.

    A further question of a conversation goes on after the prompt before it and its answer, with
    only the evidence that is new: what the model has read is not read again (`prefix_cache`).
    Where that is not known any more, or the conversation outgrew its budget, its latest turns that
    fit are quoted in a new prompt.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    prompt, entries = _prompt(model, request, evidence, limits)
    written: list[int] = []
    limit = min(limits.answer, model.window - len(prompt.ids))
    tokens = model.tokens(prompt.ids, sampling=limits.sampling, limit=limit, stop=stop)
    tokens = _record(tokens, written)
    pieces = model.detokenize(tokens, stop=stop, stops=prompt.stops)

    def remember(turn: Turn) -> None:
        state = PromptState((*prompt.ids, *written), prompt.spans)
        model.conversations.put((*request.history, turn), state)

    whole = {span.document.id: span for span in evidence.whole}
    for span in prompt.spans:  # documents of earlier turns
        document = span.document
        whole.setdefault(document.id, Span(document, 0, len(document.text), span.score))
    context = ledger([*whole.values()], prompt.spans, model.count)
    return DecodingRun(prompt.spans, (*context, *entries), pieces, remember=remember)


def _prompt(
    model: CausalModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
) -> tuple[Prompt, tuple[ContextEntry, ...]]:
    """What the model reads, and the conversation's line of the ledger, if there is one."""
    question, history = request.instructed, request.history
    room = prompt_room(model, limits)
    if not history:
        return build_prompt(
            question, evidence, chat=model.chat, room=room, arrangement=limits.arrangement,
            documents=limits.documents,
        ), ()  # fmt: skip
    usual = limits.arrangement == "ends"
    state = model.conversations.get(history) if usual else None
    longest = prompt_room(model, replace(limits, prompt=limits.prompt + limits.history))
    tokens = sum(model.count(each.question + each.answer) for each in history)
    if state is not None and tokens <= limits.history:
        prompt = continue_prompt(question, evidence, state, chat=model.chat, room=longest)
        if prompt is not None:
            return prompt, (ContextEntry("", CONVERSATION, tokens, tokens, 0),)
    turns = [(each.question, each.answer) for each in history]
    earlier, entry = quote_history(turns, count=model.count, room=min(limits.history, room // 3))
    longest = min(longest, room + entry.kept)
    return build_prompt(
        question, evidence, chat=model.chat, room=longest, earlier=earlier,
        arrangement=limits.arrangement, documents=limits.documents,
    ), (entry,)  # fmt: skip


def _record(tokens: Generator[int], written: list[int]) -> Generator[int]:
    """The same tokens, recorded."""
    with closing(tokens):
        for token in tokens:
            written.append(token)
            yield token
