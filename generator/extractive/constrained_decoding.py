"""Quotes that a language model chooses by writing them, and can only write what is there.

The model reads the evidence and the question and writes its answer, one quote a line; after each
token only those may follow that go on with a sentence of the evidence (a trie: De Cao et al.,
"Autoregressive Entity Retrieval", arXiv 2010.00904, section 3.2, here over sentences). At the start
of a line it may also end. So it chooses which sentences to quote, in what order, and when to stop,
and every quote is verbatim by construction. Tokens without an alternative are read in one step.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from generator.evidence import Evidence, Sentence
from generator.extractive.selector import QuoteLength
from generator.extractive.trie import Node, Trie
from generator.lm.causal_lm import CausalModel
from generator.lm.decode_step import forward
from generator.prompt.builder import build_prompt

if TYPE_CHECKING:
    import torch


def decoded(  # noqa: PLR0913 - four keyword options beside what every answer needs
    model: CausalModel,
    question: str,
    evidence: Evidence,
    found: Sequence[Sentence],
    *,
    length: QuoteLength,
    room: int,
    arrangement: str = "ends",
    stop: threading.Event | None = None,
) -> Iterator[Sentence]:
    """The sentences a model quotes, in the order in which it writes them.

    Args:
        model: Reads and chooses; always the likeliest token that is allowed.
        question: As asked.
        evidence: What the model is shown.
        found: Sentences that may be quoted.
        length: How much may be said.
        room: Most tokens of the prompt.
        arrangement: The order of the evidence, a key of `ARRANGEMENTS`.
        stop: Set by another thread to end early.

    Raises:
        InvalidRequest: The question alone does not fit.
    """
    prompt = build_prompt(question, evidence, chat=model.chat, room=room, arrangement=arrangement)
    shown = {
        number: sentence
        for number, sentence in enumerate(found)
        if any(
            span.document.id == sentence.document.id
            and span.start <= sentence.start
            and sentence.end <= span.end
            for span in prompt.spans
        )
    }
    lines = {number: model.chat.content(_line(sentence)) for number, sentence in shown.items()}
    pen = _Pen(model, prompt.ids, lines)
    said = 0
    for written in range(length.quotes):
        if said >= length.words or (stop is not None and stop.is_set()):
            return
        number = pen.quote(may_end=written > 0)
        if number is None:
            return
        yield shown[number]
        said += len(shown[number].text.split())


def _line(sentence: Sentence) -> str:
    """A quote as the model writes it, with who says it."""
    text = " ".join(sentence.text.split())
    speaker = " ".join((sentence.speaker or "").split())
    return f"{speaker}: {text}" if speaker else text


class _Pen:
    """Writes sentences of a trie after a prompt, and remembers what was read."""

    def __init__(
        self, model: CausalModel, prompt: Sequence[int], lines: Mapping[int, Sequence[int]]
    ) -> None:
        self._model = model
        self._trie = Trie({number: tokens for number, tokens in lines.items() if tokens})
        self._lines = lines
        self._newline = model.chat.content("\n")
        self._cache: Any = None
        self._fed: list[int] = list(prompt)

    def quote(self, *, may_end: bool) -> int | None:
        """The number of the sentence written next; None where the model ends."""
        trie, node = self._trie, self._trie.root
        if not node.below:
            return None
        while True:
            forced = trie.rest(node)
            self._fed += forced
            node = trie.walk(node, forced)
            if node.ends and not node.children:
                break
            token = self._choose(node, may_end=may_end and node is trie.root)
            if token is None:
                return None
            if token not in node.children:  # the sentence ends here, though another goes on
                break
            self._fed.append(token)
            node = node.children[token]
        number = node.ends[0]
        trie.remove(number)
        self._fed += self._newline
        return number

    def _choose(self, node: Node, *, may_end: bool) -> int | None:
        """The likeliest token allowed here; the line's end where a sentence is whole."""
        scores = self._scores()
        allowed = list(node.children)
        if node.ends:
            allowed.append(self._newline[0])
        ends = sorted(self._model.eos_token_ids) if may_end else []
        best = max((*allowed, *ends), key=lambda token: float(scores[token]))
        return None if best in ends else best

    def _scores(self) -> torch.Tensor:
        """(V,) after everything written so far; reads what is new."""
        import torch

        ids = torch.tensor([self._fed], device=self._model.device)
        read, self._cache = forward(self._model.model, ids, self._cache)
        self._fed = []
        scores: torch.Tensor = read[0, -1].float()
        return scores
