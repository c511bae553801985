"""One prompt with all the evidence, answered by a model behind a server."""

from __future__ import annotations

from generator.decoding.base import Reading, Request
from generator.lm.openai_server import RemoteModel
from generator.prompt.builder import build, conversation, ledger


def ask_server(model: RemoteModel, request: Request) -> Reading:
    """Show all the evidence in one message, and stream what the server writes.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    limits, history = request.limits, request.history
    turns = [(each.question, each.answer) for each in history]
    earlier, entry = conversation(turns, count=model.count, room=limits.history)
    room = limits.prompt + entry.kept
    prompt = build(
        request.question, request.evidence, chat=model.chat, room=room, earlier=earlier,
        arrangement=limits.arrangement,
    )  # fmt: skip
    pieces = model.stream(
        prompt.message, max_new_tokens=limits.answer, sampling=limits.sampling, stop=request.stop
    )
    context = ledger(request.evidence.whole, prompt.spans, model.count)
    return Reading(prompt.spans, (*context, entry) if history else context, pieces)
