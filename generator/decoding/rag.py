"""Each piece of evidence in a prompt of its own, combined into one answer.

RAG-Token and RAG-Sequence (Lewis et al. 2020, arXiv 2005.11401); `mixture` has the arithmetic. A
"document" of that paper is a passage here. No passage stands before another, so none can be
overlooked for its place, but nothing is inferred across passages either. What was read of a
passage is kept, and is not read again for the next question.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from generator.answer import Responsibility, ShownPassage, TokenShares
from generator.decoding.base import DecodingLimits, DecodingRun, MarginalSettings, prompt_room
from generator.decoding.mixture import (
    Batch,
    Rule,
    Step,
    advance,
    decode_steps,
    log_likelihoods,
    log_probability,
    prefill,
)
from generator.evidence import Evidence, Span
from generator.lm.caches.prefix_cache import Layers, is_reusable, pad_rows, unpad_rows
from generator.lm.causal_lm import CausalModel
from generator.lm.sampling import Sampler
from generator.ms_poe.position_method import active_settings
from generator.prompt.builder import SplitPrompt, split_prompt
from generator.prompt.ledger import ledger
from generator.request import AskRequest
from indexing.errors import UnsupportedModel

if TYPE_CHECKING:
    import torch

_BATCH = 8  # passages that are read at once


def rag_token(
    model: CausalModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
) -> DecodingRun:
    """Every token from all passages, each weighed by its retrieval score throughout.

    Of a conversation only the question is read, completed from it.
    """
    return _decode(_Work.of(model, request.instructed, evidence, limits, "token"), evidence)


def rag_sequence(
    model: CausalModel, request: AskRequest, evidence: Evidence, limits: DecodingLimits
) -> DecodingRun:
    """An answer from all passages, each weighed by how well it explains what is written so far.

    An answer of at most `Marginal.thorough` tokens is chosen among what each passage alone would
    have answered, every one of them under every passage ("thorough decoding", section 2.5).
    """
    return _decode(_Work.of(model, request.instructed, evidence, limits, "sequence"), evidence)


def log_prior(spans: Sequence[Span | None], settings: MarginalSettings) -> list[float]:
    """Returns log p(z|x) of each passage from its retrieval score; None, alone, has all."""
    import torch

    scores = torch.tensor([span.score if span else 0.0 for span in spans], dtype=torch.float64)
    prior: list[float] = (scores / settings.temperature).log_softmax(dim=0).tolist()
    return prior


def _decode(work: _Work, evidence: Evidence) -> DecodingRun:
    model = work.model
    passages = tuple(span for span in work.spans if span is not None)
    record = _Record(model, work.spans, work.prior)
    pieces = model.detokenize(
        record.tokens(work.tokens()), stop=work.limits.stop, stops=work.prompts[0].stops
    )
    context = ledger(evidence.whole, passages, model.count)
    return DecodingRun(passages, context, pieces, record.responsibility)


def _check(model: CausalModel) -> None:
    import inspect

    if "position_ids" not in inspect.signature(model.model.forward).parameters:
        raise UnsupportedModel(
            f"{model.name} takes no positions, so that prompts of several lengths cannot be read "
            "side by side; use --decoding concat"
        )


def _fitting(
    model: CausalModel, query: str, evidence: Evidence, limits: DecodingLimits
) -> Iterator[SplitPrompt]:
    """The best passages' prompts, as many as are wanted and as the budget holds, at least one."""
    room, spent = prompt_room(model, limits), 0
    passages = evidence.passages[: limits.marginal.passages] or [None]
    for i, span in enumerate(passages):
        prompt = split_prompt(query, span, chat=model.chat, room=room)
        spent += len(prompt)
        if i and spent > limits.prompt:
            return
        yield prompt


@dataclass
class _Work:
    """One answer over k prompts."""

    model: CausalModel
    prompts: Sequence[SplitPrompt]
    prior: Sequence[float]
    rule: Rule
    limits: DecodingLimits

    @classmethod
    def of(
        cls, model: CausalModel, query: str, evidence: Evidence, limits: DecodingLimits, rule: Rule
    ) -> _Work:
        """The prompts of the passages."""
        _check(model)
        prompts = list(_fitting(model, query, evidence, limits))
        prior = log_prior([prompt.span for prompt in prompts], limits.marginal)
        return cls(model, prompts, prior, rule, limits)

    @property
    def spans(self) -> list[Span | None]:
        """The passage of each prompt; None where there is no evidence."""
        return [prompt.span for prompt in self.prompts]

    def tokens(self) -> Generator[Step]:
        """Steps up to the token that ends the answer (left out)."""
        import torch

        marginal, model = self.limits.marginal, self.model
        prior = torch.tensor(self.prior, dtype=torch.float32, device=model.device)
        limit = min(self.limits.answer, model.window - max(map(len, self.prompts)))
        if self.rule == "sequence" and limit <= marginal.thorough:
            yield from self._best(prior, limit)
            return
        choose = Sampler(self.limits.sampling, model.device)
        batch = self.batch()
        loop = decode_steps(
            model.model, batch, prior, rule=self.rule, choose=choose, prune=marginal.prune
        )
        for _, step in zip(range(limit), loop, strict=False):
            if step.token in model.eos_token_ids:
                return
            yield step

    def batch(self) -> Batch:
        """All prompts, read; of passages that were read before only what follows them."""
        if active_settings(self.model.model) is not None:
            return prefill(self.model.model, [prompt.ids for prompt in self.prompts])
        layers = self._prefixes()
        if layers is None:
            return prefill(self.model.model, [prompt.ids for prompt in self.prompts])
        before = pad_rows(layers)
        suffixes = [prompt.suffix for prompt in self.prompts]
        return prefill(self.model.model, suffixes, cache=before.cache, mask=before.mask)

    def _prefixes(self) -> list[Layers] | None:
        """Keys and values of every prompt up to the question; None where they cannot be kept."""
        row_cache = self.model.rows
        lookups = {prompt.prefix: row_cache.get(prompt.prefix) for prompt in self.prompts}
        prefixes = {ids: layers for ids, layers in lookups.items() if layers is not None}
        new = sorted((ids for ids in lookups if ids not in prefixes), key=len)
        for start in range(0, len(new), _BATCH):
            some = new[start : start + _BATCH]
            cache = prefill(self.model.model, some).cache
            if not is_reusable(cache):
                return None
            for ids, layers in zip(some, unpad_rows(cache, [*map(len, some)]), strict=True):
                prefixes[ids] = layers
                row_cache.put(ids, layers)
        return [prefixes[prompt.prefix] for prompt in self.prompts]

    def _best(self, prior: torch.Tensor, limit: int) -> Generator[Step]:
        """The likeliest of the answers that single passages give, whole."""
        answers = self._candidates(limit)
        if not answers:
            return
        prompts = [prompt.ids for prompt in self.prompts]
        likelihoods = [log_likelihoods(self.model.model, prompts, answer) for answer in answers]
        scores = [float(log_probability(each, prior, self.rule)) for each in likelihoods]
        best = max(range(len(scores)), key=scores.__getitem__)
        weights = prior.log_softmax(dim=0)
        for token, given in zip(answers[best], likelihoods[best].T, strict=True):
            weights = (weights + given).log_softmax(dim=0)
            shares = tuple(weights.exp().tolist())
            if token not in self.model.eos_token_ids:
                yield Step(token, shares, shares)

    def _candidates(self, limit: int) -> list[list[int]]:
        """What each prompt alone answers, greedily, with the token that ends it; each once."""
        model, batch = self.model, self.batch()
        written: list[list[int]] = [[] for _ in self.prompts]
        over = [False] * len(written)
        for _ in range(limit):
            nexts = batch.log_probs.argmax(dim=-1)
            for row, token in enumerate(nexts.tolist()):
                if not over[row]:
                    written[row].append(token)
                    over[row] = token in model.eos_token_ids
            if all(over):
                break
            batch = advance(model.model, batch, nexts)
        return [list(each) for each in dict.fromkeys(map(tuple, written)) if each]


@dataclass
class _Record:
    """What each passage gave to an answer, token by token."""

    model: CausalModel
    spans: Sequence[Span | None]
    prior: Sequence[float]
    steps: list[Step] = field(default_factory=list)

    def tokens(self, steps: Generator[Step]) -> Generator[int]:
        """The tokens of steps, which are recorded."""
        try:
            for step in steps:
                self.steps.append(step)
                yield step.token
        finally:
            steps.close()

    def responsibility(self) -> Responsibility:
        """The passages with their shares, and the shares of every token."""
        import math

        count = max(1, len(self.steps))
        mean = [sum(step.shares[i] for step in self.steps) / count for i in range(len(self.spans))]
        passages = tuple(
            ShownPassage(
                document=span.document.id if span else "",
                title=span.document.title if span else "no document",
                start=span.start if span else 0,
                end=span.end if span else 0,
                prior=round(math.exp(self.prior[i]), 4),
                posterior=round(self.steps[-1].posterior[i], 4) if self.steps else 0.0,
                share=round(mean[i], 4),
            )
            for i, span in enumerate(self.spans)
        )
        return Responsibility(
            passages,
            tuple(
                TokenShares(
                    self.model.decode([step.token]), tuple(round(s, 4) for s in step.shares)
                )
                for step in self.steps
            ),
        )
