"""One answer from many documents: k prompts in one batch, a weighted sum of their next tokens.

RAG-Sequence and RAG-Token (Lewis et al. 2020, arXiv 2005.11401, sections 2.1 to 2.5) with a model
that only decodes:

    Sequence: p(y|x) = sum_z p(z|x) prod_t p(y_t|x,z,y_<t)
    Token:    p(y|x) = prod_t sum_z p(z|x) p(y_t|x,z,y_<t)

Both are one loop. Each step takes log sum_z exp(log w_z + log p(y_t|x,z,y_<t)); the token chosen
goes to all rows. With w = p(z|x) at every step this is Token; with w = p(z|x,y_<t), the posterior
of the documents after what is written so far, the product of the steps is Sequence exactly.
How responsible a document is for a token is softmax_z(log w_z + log p(y_t|z)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from generator.lm.decode_step import forward
from generator.ms_poe.position_method import keep_rows

if TYPE_CHECKING:
    import torch

Rule = Literal["token", "sequence"]


@dataclass(frozen=True, slots=True)
class Step:
    """One token of an answer."""

    token: int
    shares: tuple[float, ...]  # how responsible each row is for it; they sum to 1
    posterior: tuple[float, ...]  # of each row, after it; for "token", the weights as they were


@dataclass(slots=True)
class Batch:
    """k prefilled prompts, each waiting for its next token."""

    cache: Any  # a transformers cache of k rows, padded on the left
    mask: torch.Tensor  # (k, n) int64, 0 where a row is padded
    log_probs: torch.Tensor  # (k, V) float32, log probabilities of the next token


def prefill(
    model: Any,  # noqa: ANN401 - any transformers model
    prompts: Sequence[Sequence[int]],  # token ids; all equally long where there is a cache
    *,
    cache: Any = None,  # noqa: ANN401
    mask: torch.Tensor | None = None,  # (k, n) int64, of the cache
) -> Batch:
    """Prefill prompts, or what follows on a cache, as one batch padded on the left.

    The model's `forward` takes position ids.
    """
    import torch

    longest = max(map(len, prompts))
    ids = torch.zeros(len(prompts), longest, dtype=torch.long, device=model.device)
    new = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, longest - len(prompt) :] = torch.tensor(prompt, device=model.device)
        new[row, longest - len(prompt) :] = 1
    whole = new if mask is None else torch.cat([mask, new], dim=1)
    return _forward(model, ids, cache, whole)


def decode_steps(  # noqa: PLR0913 - a model, its batch, and how to mix it
    model: Any,  # noqa: ANN401
    batch: Batch,  # the prompts; it is used up
    log_prior: torch.Tensor,  # (k,) float32, log p(z|x)
    *,
    rule: Rule,
    choose: Callable[[torch.Tensor], int],  # the next token from (V,) log probabilities
    prune: float = 0.0,
) -> Iterator[Step]:
    """Decode without end: tokens, each with the responsibility of every row.

    Under "sequence", a row whose posterior falls below `prune` is read no further; its weight goes
    to the others.
    """
    import torch

    count = len(log_prior)
    alive = torch.arange(count, device=log_prior.device)
    weights = log_prior.log_softmax(dim=0)
    while True:
        token = choose((weights[:, None] + batch.log_probs).logsumexp(dim=0))
        posterior = (weights + batch.log_probs[:, token]).log_softmax(dim=0)
        shares = _spread(posterior, alive, count)
        if rule == "sequence":
            weights = posterior
        yield Step(token, shares, _spread(weights, alive, count))
        survivors = (weights >= weights.new_tensor(prune).log()).nonzero().flatten()
        if rule == "sequence" and len(survivors) < len(alive):
            alive, weights = alive[survivors], weights[survivors].log_softmax(dim=0)
            keep_rows(batch.cache, survivors)
            batch.mask = batch.mask[survivors]
        batch = advance(model, batch, torch.full((len(alive),), token, device=model.device))


def advance(model: Any, batch: Batch, tokens: torch.Tensor) -> Batch:  # noqa: ANN401
    """One token, (k,), further in every row; the batch before is used up."""
    import torch

    ids = tokens[:, None]
    mask = torch.cat([batch.mask, torch.ones_like(ids)], dim=1)
    return _forward(model, ids, batch.cache, mask)


def log_likelihoods(
    model: Any,  # noqa: ANN401
    prompts: Sequence[Sequence[int]],
    answer: Sequence[int],
) -> torch.Tensor:
    """Returns log p(y_t|x,z,y_<t) of each token of an answer under each prompt, (k, T) float32."""
    import torch

    batch = prefill(model, prompts)
    ids = torch.tensor([list(answer)] * len(prompts), device=model.device)
    given = batch.log_probs[:, None]
    if len(answer) > 1:
        mask = torch.cat([batch.mask, torch.ones_like(ids[:, 1:])], dim=1)
        rest = _log_probs(model, ids[:, :-1], batch.cache, mask)[0]
        given = torch.cat([given, rest], dim=1)
    return given.gather(2, ids[..., None]).squeeze(2)


def log_probability(likelihoods: torch.Tensor, log_prior: torch.Tensor, rule: Rule) -> torch.Tensor:
    """Returns log p(y|x) from (k, T) log likelihoods: every document counts."""
    weights = log_prior.log_softmax(dim=0)
    if rule == "sequence":
        return (weights + likelihoods.sum(dim=1)).logsumexp(dim=0)
    return (weights[:, None] + likelihoods).logsumexp(dim=0).sum()


def _forward(model: Any, ids: torch.Tensor, cache: Any, mask: torch.Tensor) -> Batch:  # noqa: ANN401
    log_probs, cache = _log_probs(model, ids, cache, mask, last=True)
    return Batch(cache, mask, log_probs[:, -1])


def _log_probs(
    model: Any,  # noqa: ANN401
    ids: torch.Tensor,
    cache: Any,  # noqa: ANN401
    mask: torch.Tensor,
    *,
    last: bool = False,
) -> tuple[torch.Tensor, Any]:
    """Log probabilities (k, n, V) float32 after each new token, or after the last; the cache."""
    logits, cache = forward(model, ids, cache, mask=mask, last=last)
    return logits.float().log_softmax(dim=-1), cache


def _spread(log_shares: torch.Tensor, alive: torch.Tensor, count: int) -> tuple[float, ...]:
    """Shares of the rows that are read, and 0 of those that no longer are."""
    every = log_shares.new_zeros(count)
    every[alive] = log_shares.exp()
    return tuple(every.tolist())
