"""A few quotes in one short prompt: for a small language model that was tuned to write from them.

What is passed as evidence are the quotes themselves. Every word of content comes from them or the
question (`word_constraint`).
"""

from __future__ import annotations

from generator.answer import NOT_SAID
from generator.decoding.base import DecodingLimits, DecodingRun, prompt_room
from generator.evidence import Evidence, Sentence, Span
from generator.lm.causal_lm import CausalModel
from generator.lm.word_constraint import WordConstraint, words_of
from generator.prompt.arrangement import ARRANGEMENTS
from generator.prompt.ledger import ledger
from generator.prompt.quotes import quote_prompt
from generator.request import AskRequest


def quotes(
    model: CausalModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
) -> DecodingRun:
    """Read the quotes and write the answer; a further question is asked by its standalone form.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    room = prompt_room(model, limits)
    ordered = ARRANGEMENTS[limits.arrangement](evidence.passages)
    passages = [_sentence(span) for span in ordered]
    prompt = quote_prompt(request.query, passages, chat=model.chat, room=room)
    speakers = [_sentence(span).speaker or "" for span in prompt.spans]
    words = words_of([request.query, *speakers, *(span.text for span in prompt.spans)])
    constraint = WordConstraint(
        words, lambda token: model.decode([token]), model.eos_token_ids, whole=NOT_SAID
    )
    limit = min(limits.answer, model.window - len(prompt.ids))
    tokens = model.tokens(
        prompt.ids, sampling=limits.sampling, limit=limit, stop=limits.stop, constraint=constraint
    )
    pieces = model.detokenize(tokens, stop=limits.stop, stops=prompt.stops)
    return DecodingRun(prompt.spans, ledger(evidence.whole, prompt.spans, model.count), pieces)


def _sentence(span: Span) -> Sentence:
    """A quote with who says it, unless its text says so itself."""
    utterance = span.document.utterance_at(span.start)
    if utterance is None or span.start < utterance.text_start:
        return Sentence(span.document, span.start, span.end, span.score)
    return Sentence(
        span.document, span.start, span.end, span.score,
        utterance.start, utterance.speaker, utterance.time,
    )  # fmt: skip
