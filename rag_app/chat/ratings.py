"""Answers that people rated, as questions with gold evidence: a benchmark of their own.

An answer that was found good gives its quotes as the evidence of its question. One that was found
bad says only that something else is right, so its line waits for a person to write down what: as
long as its "answer" is empty, `rag-app evaluate answers` leaves it out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rag_app.chat.web.file_names import file_name
from rag_app.short_answer import at_markers

if TYPE_CHECKING:
    from generator.answer import Citation
    from rag_app.chat.conversation import Conversation, Exchange

_LINE_ENDS = {each: f"\\u{each:04x}" for each in (0x85, 0x2028, 0x2029)}  # which JSON lets stand


def question_lines(conversations: Iterable[Conversation]) -> Iterator[str]:
    """A line of JSON for each answer that was rated, oldest conversation first.

    Its fields are those of `rag-app evaluate answers` (question, answer, answerable, short,
    evidence), and how the answer was rated and made.
    """
    for conversation in sorted(conversations, key=lambda one: one.begun):
        for exchange in conversation.exchanges:
            if exchange.rating:
                line = json.dumps(_question(conversation, exchange), ensure_ascii=False)
                yield line.translate(_LINE_ENDS)


def _question(conversation: Conversation, exchange: Exchange) -> dict[str, Any]:
    answer = exchange.answer
    good = exchange.rating == "up"
    abstained = answer is not None and answer.abstained
    quotes = [_evidence(each) for each in (answer.citations if answer else ())]
    return {
        "question": answer.query if answer and answer.query else exchange.question,
        "answer": _plain(exchange) if good and not abstained else "",
        "answerable": not (good and abstained),
        "short": answer.short.text if good and answer and answer.short else "",
        "evidence": quotes if good else [],
        "rated": exchange.rating,
        "rejected": [] if good else quotes,
        "asked": exchange.question,
        "conversation": conversation.id,
        "mode": exchange.mode,
        "length": exchange.length,
        "form": exchange.form,
        "documents": list(exchange.documents),
        "collections": list(exchange.collections),
        "model": answer.model if answer else "",
        "decoding": answer.decoding if answer else "",
        "configuration": dict(answer.configuration) if answer else {},
        "probability": answer.probability if answer else None,
    }


def _evidence(citation: Citation) -> dict[str, Any]:
    return {
        "path": file_name(citation.path),
        "part": citation.part,
        "quote": citation.quote,
        "speaker": citation.speaker,
    }


def _plain(exchange: Exchange) -> str:
    """The text of an answer without its markers."""
    parts = at_markers(exchange.text, exchange.mode)
    return "".join(part if marker is None else part.rstrip(" ") for part, marker in parts).strip()
