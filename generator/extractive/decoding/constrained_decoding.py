"""Constrained decoding: a language model writes quotes, and can only write what is in the evidence.

The model reads the evidence and the question and writes its answer, one quote a line; after each
token only those may follow that continue a sentence of the evidence (a trie: De Cao et al.,
"Autoregressive Entity Retrieval", arXiv 2010.00904, section 3.2, here over sentences). At the start
of a line it may also end. So it chooses which sentences to quote, in what order, and when to stop,
and every quote is verbatim by construction. Tokens without an alternative are prefilled at once.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from generator.evidence import Evidence, Sentence, Span
from generator.extractive.decoding.trie import Node, Trie
from generator.extractive.quote_length import QuoteLength
from generator.lm.causal_lm import CausalModel
from generator.lm.decode_step import forward
from generator.prompt.builder import build_prompt

if TYPE_CHECKING:
    import torch


def decode_quotes(  # noqa: PLR0913 - four keyword options beside what every answer needs
    model: CausalModel,
    question: str,
    evidence: Evidence,
    sentences: Sequence[Sentence],
    *,
    length: QuoteLength,
    room: int,
    arrangement: str = "ends",
    stop: threading.Event | None = None,
) -> Iterator[Sentence]:
    """The sentences a model quotes, in the order in which it writes them.

    Args:
        model: Decodes greedily among the tokens that are allowed.
        question: As asked.
        evidence: What the prompt may show.
        sentences: Those that may be quoted, if the prompt shows them.
        length: Of the answer.
        room: Most tokens of the prompt.
        arrangement: The order of the evidence, a key of `ARRANGEMENTS`.
        stop: Set by another thread to end early.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    prompt = build_prompt(question, evidence, chat=model.chat, room=room, arrangement=arrangement)
    candidates = {
        number: sentence
        for number, sentence in enumerate(sentences)
        if any(_holds(span, sentence) for span in prompt.spans)
    }
    lines = {number: model.chat.content(_line(each)) for number, each in candidates.items()}
    decoder = _TrieDecoder(model, prompt.ids, lines)
    words = 0
    for count in range(length.quotes):
        if words >= length.words or (stop is not None and stop.is_set()):
            return
        number = decoder.decode_line(may_end=count > 0)
        if number is None:
            return
        yield candidates[number]
        words += len(candidates[number].text.split())


def _holds(span: Span, sentence: Sentence) -> bool:
    """Whether the sentence lies within the span."""
    same = span.document.id == sentence.document.id
    return same and span.start <= sentence.start and sentence.end <= span.end


def _line(sentence: Sentence) -> str:
    """A quote as the model writes it, with who says it."""
    text = " ".join(sentence.text.split())
    speaker = " ".join((sentence.speaker or "").split())
    return f"{speaker}: {text}" if speaker else text


class _TrieDecoder:
    """Greedy decoding of the sequences of a trie after a prompt, each at most once.

    Args:
        model: Gives the logits.
        prompt: Its token ids.
        lines: Token ids of each sequence, by its number.
    """

    def __init__(
        self, model: CausalModel, prompt: Sequence[int], lines: Mapping[int, Sequence[int]]
    ) -> None:
        self._model = model
        self._trie = Trie({number: tokens for number, tokens in lines.items() if tokens})
        self._newline = model.chat.content("\n")
        self._cache: Any = None
        self._pending: list[int] = list(prompt)  # tokens that are not in the cache yet

    def decode_line(self, *, may_end: bool) -> int | None:
        """The number of the next sequence; None where the model writes an end-of-text token."""
        trie, node = self._trie, self._trie.root
        if not node.count:
            return None
        while True:
            tokens = trie.forced_tokens(node)
            self._pending += tokens
            node = trie.descend(node, tokens)
            if node.sequences and not node.children:
                break
            token = self._choose(node, may_end=may_end and node is trie.root)
            if token is None:
                return None
            if token not in node.children:  # this sequence ends here, though another continues
                break
            self._pending.append(token)
            node = node.children[token]
        number = node.sequences[0]
        trie.remove(number)
        self._pending += self._newline
        return number

    def _choose(self, node: Node, *, may_end: bool) -> int | None:
        """The likeliest token allowed here; a newline where a sequence ends; None for the end."""
        logits = self._logits()
        allowed = list(node.children)
        if node.sequences:
            allowed.append(self._newline[0])
        ends = sorted(self._model.eos_token_ids) if may_end else []
        best = max((*allowed, *ends), key=lambda token: float(logits[token]))
        return None if best in ends else best

    def _logits(self) -> torch.Tensor:
        """(vocabulary,) after everything so far; prefills what is pending."""
        import torch

        ids = torch.tensor([self._pending], device=self._model.device)
        output, self._cache = forward(self._model.model, ids, self._cache)
        self._pending = []
        logits: torch.Tensor = output[0, -1].float()
        return logits
