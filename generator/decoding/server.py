"""One prompt with all the evidence, answered by a model behind a server."""

from __future__ import annotations

from generator.decoding.base import DecodingLimits, DecodingRun
from generator.evidence import Evidence
from generator.lm.server.openai_server import RemoteModel
from generator.prompt.builder import build_prompt, quote_history
from generator.prompt.ledger import ledger
from generator.prompt.pictures import interleave, show_figures
from generator.request import AskRequest


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
    prompt = build_prompt(
        request.instructed, evidence, chat=model.chat, room=room, earlier=earlier,
        arrangement=limits.arrangement, documents=limits.documents, refusal=limits.refusal,
        examples=limits.examples,
    )  # fmt: skip
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
