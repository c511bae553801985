"""One prompt with all the evidence: the simplest way to decode over documents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from generator.answer import CONVERSATION, ContextEntry
from generator.decoding.base import DecodingLimits, DecodingRun, prompt_room
from generator.evidence import Evidence, Span
from generator.lm.language_model import LanguageModel
from generator.prompt.builder import Prompt, build_prompt, continue_prompt, quote_history
from generator.prompt.follow_up import PromptState, Turn
from generator.prompt.ledger import ledger
from generator.prompt.pictures import interleave, show_figures
from generator.request import AskRequest

if TYPE_CHECKING:
    from generator.lm.server.openai_server import RemoteModel


def concat(
    model: LanguageModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
) -> DecodingRun:
    """Read all the evidence at once and write the answer.

    A further question of a conversation goes on after the prompt before it and its answer, with
    only the evidence that is new: what the model has read is not read again (`prefix_cache`).
    Where that is not known any more, or the conversation outgrew its budget, its latest turns that
    fit are quoted in a new prompt.
    """
    prompt, entries = _prompt(model, request, evidence, limits)
    writing = model.write(
        prompt.ids, max_new_tokens=limits.answer, sampling=limits.sampling, stop=limits.stop,
        stops=prompt.stops,
    )  # fmt: skip

    def remember(turn: Turn) -> None:
        state = PromptState((*prompt.ids, *writing.ids()), prompt.spans)
        model.conversations.put((*request.history, turn), state)

    whole = {span.document.id: span for span in evidence.whole}
    for span in prompt.spans:  # documents of earlier turns
        document = span.document
        whole.setdefault(document.id, Span(document, 0, len(document.text), span.score))
    context = ledger([*whole.values()], prompt.spans, model.count)
    return DecodingRun(prompt.spans, (*context, *entries), writing.pieces, remember=remember)


def _prompt(
    model: LanguageModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
) -> tuple[Prompt, tuple[ContextEntry, ...]]:
    """What the model reads, and the conversation's line of the ledger, if there is one."""
    question, history = request.instructed, request.history
    room = prompt_room(model, limits)
    if not history:
        return _built(model, request, evidence, limits, room), ()
    usual = limits.arrangement == "ends"
    state = model.conversations.get(history) if usual else None
    longest = prompt_room(model, replace(limits, prompt=limits.prompt + limits.history))
    tokens = sum(model.count(each.question + each.answer) for each in history)
    if state is not None and tokens <= limits.history:
        prompt = continue_prompt(
            question, evidence, state, chat=model.chat, room=longest,
            instruction=limits.instruction,
        )  # fmt: skip
        if prompt is not None:
            return prompt, (ContextEntry("", CONVERSATION, tokens, tokens, 0),)
    turns = [(each.question, each.answer) for each in history]
    earlier, entry = quote_history(turns, count=model.count, room=min(limits.history, room // 3))
    longest = min(longest, room + entry.kept)
    return _built(model, request, evidence, limits, longest, earlier), (entry,)


def _built(  # noqa: PLR0913, PLR0917 - what a prompt is made of
    model: LanguageModel | RemoteModel,
    request: AskRequest,
    evidence: Evidence,
    limits: DecodingLimits,
    room: int,
    earlier: str = "",
) -> Prompt:
    return build_prompt(
        request.instructed, evidence, chat=model.chat, room=room, earlier=earlier,
        arrangement=limits.arrangement, documents=limits.documents,
        instruction=limits.instruction, examples=limits.examples,
    )  # fmt: skip


def ask_server(
    model: RemoteModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
) -> DecodingRun:
    """Show all the evidence in one message, and stream what the server writes.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    history = request.history
    turns = [(each.question, each.answer) for each in history]
    earlier, entry = quote_history(turns, count=model.count, room=limits.history)
    room = limits.prompt + (0 if limits.documents else entry.kept)
    prompt = _built(model, request, evidence, limits, room, earlier)
    picture = limits.picture
    shown, refused = show_figures(prompt.spans, picture, limits.stop) if picture else ((), ())
    pieces = model.stream(
        interleave(prompt.message, [one.picture for one in shown]),
        turns=[
            (interleave(text, one.pictures if picture else ()), answer)
            for one, (text, answer) in zip(limits.examples, prompt.turns, strict=True)
        ],
        max_new_tokens=limits.answer,
        sampling=limits.sampling,
        stop=limits.stop,
    )
    context = ledger(evidence.whole, prompt.spans, model.count)
    entries = (*context, entry) if history else context
    return DecodingRun(prompt.spans, entries, pieces, figures=shown, refused=refused)
