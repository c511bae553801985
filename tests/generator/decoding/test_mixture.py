"""RAG-Token and RAG-Sequence against the sums of the paper over every answer there is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
import torch
import transformers

from generator.decoding.mixture import Rule, decode_steps, log_likelihoods, log_probability, prefill

WORDS = 5
PROMPTS = [[1, 2, 3, 4, 0, 2, 1], [4, 4], [3, 1, 2, 0]]
PRIOR = torch.tensor([0.5, 0.2, 0.3]).log()
LONG = 3

CONFIGS = {
    "llama": transformers.LlamaConfig(
        vocab_size=WORDS, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    ),
    "qwen3": transformers.Qwen3Config(
        vocab_size=WORDS, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8, max_position_embeddings=64,
    ),
    "gpt2": transformers.GPT2Config(
        vocab_size=WORDS, n_embd=32, n_layer=2, n_head=2, n_positions=64
    ),
}  # fmt: skip


@pytest.fixture(scope="module", params=CONFIGS)
def tiny(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A random model of five words, saved and loaded; sharp, so that documents disagree."""
    torch.manual_seed(1)
    model = transformers.AutoModelForCausalLM.from_config(CONFIGS[request.param])
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(6 if weight.dim() > 1 else 1)
    folder = tmp_path_factory.mktemp(request.param)
    model.save_pretrained(folder)
    return transformers.AutoModelForCausalLM.from_pretrained(folder).eval()


def given(model: Any, prompt: Sequence[int], answer: Sequence[int]) -> torch.Tensor:
    """p(y_t|x,z,y_<t) of each token, from one plain pass over prompt and answer."""
    ids = torch.tensor([[*prompt, *answer]])
    with torch.no_grad():
        shares = model(input_ids=ids).logits[0].double().softmax(-1)
    return torch.stack([shares[len(prompt) + t - 1, y] for t, y in enumerate(answer)])


def brute_force(model: Any, answer: Sequence[int], rule: Rule) -> float:
    """p(y|x) as section 2.1 of the paper writes it."""
    each = torch.stack([given(model, prompt, answer) for prompt in PROMPTS])  # (k, T)
    prior = PRIOR.double().exp()
    if rule == "sequence":
        return float((prior * each.prod(dim=1)).sum())
    return float((prior[:, None] * each).sum(dim=0).prod())


def walked(model: Any, answer: Sequence[int], rule: Rule) -> tuple[float, list[Any]]:
    """The probability that the loop gives to an answer that is forced upon it, and its steps."""
    total, wanted = torch.zeros((), dtype=torch.float64), iter(answer)

    def forced(scores: torch.Tensor) -> int:
        nonlocal total
        assert float(scores.logsumexp(0)) == pytest.approx(0, abs=1e-5)
        token = next(wanted)
        total = total + scores[token].double()
        return token

    loop = decode_steps(model, prefill(model, PROMPTS), PRIOR, rule=rule, choose=forced)
    taken = [step for _, step in zip(answer, loop, strict=False)]
    return float(total.exp()), taken


@pytest.mark.parametrize("rule", ["token", "sequence"])
def test_every_answer_has_the_probability_of_the_paper(tiny: Any, rule: Rule) -> None:
    total = 0.0
    for answer in product(range(WORDS), repeat=LONG):
        wanted = brute_force(tiny, answer, rule)
        total += wanted
        likelihoods = log_likelihoods(tiny, PROMPTS, answer)
        thorough = float(log_probability(likelihoods, PRIOR, rule).exp())
        assert thorough == pytest.approx(wanted, rel=1e-4, abs=1e-7)
        if sum(answer) % 3 == 0:  # the loop on a third of them
            assert walked(tiny, answer, rule)[0] == pytest.approx(wanted, rel=1e-4, abs=1e-7)
    assert total == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("rule", ["token", "sequence"])
def test_shares_are_the_posterior_of_the_documents(tiny: Any, rule: Rule) -> None:
    answer = [2, 0, 3]
    each = torch.stack([given(tiny, prompt, answer) for prompt in PROMPTS])
    prior = PRIOR.double().exp()
    _, taken = walked(tiny, answer, rule)
    for t, step in enumerate(taken):
        before = prior * each[:, :t].prod(dim=1) if rule == "sequence" else prior
        wanted = before * each[:, t]
        assert step.token == answer[t]
        assert step.shares == pytest.approx((wanted / wanted.sum()).tolist(), abs=1e-5)
        after = wanted / wanted.sum() if rule == "sequence" else prior
        assert step.posterior == pytest.approx(after.tolist(), abs=1e-5)


def test_the_rules_differ(tiny: Any) -> None:
    answers = list(product(range(WORDS), repeat=LONG))
    token, sequence = (
        [brute_force(tiny, y, rule) for y in answers] for rule in ("token", "sequence")
    )
    assert max(abs(a - b) for a, b in zip(token, sequence, strict=True)) > 1e-3


def test_padded_rows_equal_unpadded_ones(tiny: Any) -> None:
    together = prefill(tiny, PROMPTS).log_probs
    for row, prompt in zip(together, PROMPTS, strict=True):
        with torch.no_grad():
            alone = tiny(input_ids=torch.tensor([prompt])).logits[0, -1].log_softmax(-1)
        assert torch.allclose(row, alone, atol=1e-5)


def test_likeliest_tokens_are_taken(tiny: Any) -> None:
    loop = decode_steps(
        tiny, prefill(tiny, PROMPTS), PRIOR, rule="sequence", choose=lambda mix: int(mix.argmax())
    )
    written: list[int] = []
    for _, step in zip(range(6), loop, strict=False):
        chances = [brute_force(tiny, [*written, y], "sequence") for y in range(WORDS)]
        assert step.token == chances.index(max(chances))
        written.append(step.token)


def test_pruned_documents_are_read_no_further(tiny: Any) -> None:
    sizes: list[int] = []

    def track(_: Any, __: Any, kwargs: dict[str, Any]) -> None:
        sizes.append(len(kwargs["input_ids"]))

    prior = torch.tensor([0.98, 0.001, 0.019]).log()
    hook = tiny.register_forward_pre_hook(track, with_kwargs=True)
    try:
        loop = decode_steps(
            tiny, prefill(tiny, PROMPTS), prior, rule="sequence",
            choose=lambda mix: int(mix.argmax()), prune=0.01,
        )  # fmt: skip
        taken = [step for _, step in zip(range(8), loop, strict=False)]
    finally:
        hook.remove()
    assert sizes[0] == 3
    assert sizes[-1] < 3
    assert sizes == sorted(sizes, reverse=True)
    for step in taken:
        assert sum(step.shares) == pytest.approx(1, abs=1e-5)
    assert min(taken[-1].shares) == 0.0
