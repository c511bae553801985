"""A larger language model as a teacher: a question for an utterance, and the odds of "yes"."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from generator.lm.gguf.llama_server import LlamaServer

_WINDOW = 2_048  # tokens
_QUESTION = 40  # tokens
_CHOICES = 20  # tokens whose probabilities are looked at

_ANSWERS = (
    "Text:\n{text}\n\nQuestion: {question}\n\nDoes the text state the answer to this question? "
    "Say yes only if the exact answer is in the text. Answer yes or no."
)
_WRITE = (
    'Part of a meeting:\n{text}\n\nWrite one short question that begins with "{begin}" and that is '
    "answered by this utterance alone:\n{utterance}\n\nWrite only the question."
)


class Teacher:
    """A GGUF file in llama.cpp.

    Args:
        file: The file.
        threads: Of the processor.
    """

    def __init__(self, file: Path, *, threads: int) -> None:
        self._server = LlamaServer(file, window=_WINDOW, threads=threads)

    def answers(self, text: str, question: str) -> float:
        """The logarithm of the odds that a text answers a question."""
        said = _ANSWERS.format(text=text, question=question)
        values = {"n_predict": 1, "n_probs": _CHOICES, "temperature": 0.0, "cache_prompt": True}
        reply = self._server.ask("/completion", {"prompt": self._prompt(said), **values})
        (first, *_) = reply["completion_probabilities"]
        tops = [
            (str(one["token"]).strip().lower(), one["logprob"]) for one in first["top_logprobs"]
        ]
        least = min(logprob for _, logprob in tops)
        yes, no = (_together(tops, word, least) for word in ("yes", "no"))
        return yes - no

    def question(self, text: str, utterance: str, begin: str) -> str:
        """A question that an utterance answers; "" where none was written."""
        said = _WRITE.format(text=text, utterance=utterance, begin=begin)
        values = {"n_predict": _QUESTION, "temperature": 0.0, "stop": ["\n"], "cache_prompt": True}
        reply = self._server.ask("/completion", {"prompt": self._prompt(said), **values})
        written = str(reply["content"]).strip().strip('"')
        return written if written.endswith("?") else ""

    def _prompt(self, said: str) -> str:
        messages = [{"role": "user", "content": said}]
        return str(self._server.ask("/apply-template", {"messages": messages})["prompt"])


def _together(tops: Sequence[tuple[str, float]], word: str, least: float) -> float:
    """The log-probability of all tokens that are a word, however they are written."""
    found = [math.exp(logprob) for token, logprob in tops if token == word]
    return math.log(sum(found)) if found else least
