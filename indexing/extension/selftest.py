"""Tests a method on an architecture before its first use there.

Methods reach into models by hooks, and an architecture that nobody has tried may call its parts
in another way. So, once for each method, class of model and attention implementation, a probe of
a few tokens is run three times: untouched; with settings under which the formula is the identity,
which must give the same; and with settings that must change the output, to see the hooks bite.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from indexing.errors import InvalidRequest, UnsupportedModel

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor

    from indexing.nn.architecture import Architecture

PROBE = 16
"""Tokens of the longer of the two probe sequences; the other has five fewer."""


class Provable(Protocol):
    """What this needs of a method."""

    @property
    def name(self) -> str:
        """What people call it."""

    def apply(self, model: SentenceTransformer, arch: Architecture) -> AbstractContextManager[None]:
        """Applies it for as long as the `with` lasts."""

    def identity(self) -> Provable | None:
        """The method with settings under which it changes no output; None: nothing to prove."""

    def active(self) -> Provable | None:
        """The method with settings under which it changes the output of a short text."""


_proven: set[tuple[type, type, str | None]] = set()


def prove(method: Provable, model: SentenceTransformer, arch: Architecture) -> None:
    """Raises UnsupportedModel unless the method does on this architecture what it says."""
    identity, active = method.identity(), method.active()
    key = (type(method), type(arch.backbone), arch.backbone.config._attn_implementation)
    if identity is None or active is None or key in _proven:
        return
    plain = _states(arch)
    same = _run_changed(identity, model, arch)
    other = _run_changed(active, model, arch)
    if not _close(plain, same):
        raise _failure(method, arch, "settings that change nothing changed the output")
    if plain.equal(other):
        raise _failure(method, arch, "it has no effect")
    _proven.add(key)


def _run_changed(method: Provable, model: SentenceTransformer, arch: Architecture) -> Tensor:
    with method.apply(model, arch):
        try:
            return _states(arch)
        except (InvalidRequest, KeyError, TypeError, RuntimeError, IndexError) as error:
            raise _failure(method, arch, f"{type(error).__name__}: {error}") from error


def _states(arch: Architecture) -> Tensor:
    """Last hidden states of the real tokens of the probe: (2 * PROBE - 5, H)."""
    import torch

    device = arch.backbone.device
    special = {arch.backbone.config.pad_token_id, arch.padding_id}
    vocabulary = min(arch.backbone.config.vocab_size, 1000)
    words = [i for i in range(vocabulary // 2, vocabulary) if i not in special]
    ids = torch.tensor([words[i % len(words)] for i in range(2 * PROBE)], device=device)
    ids = ids.view(2, PROBE)
    mask = torch.ones_like(ids)
    mask[1, -5:] = 0
    padding = arch.backbone.config.pad_token_id
    ids[1, -5:] = padding if isinstance(padding, int) else words[0]
    training = arch.reader.training
    arch.reader.eval()
    try:
        with torch.inference_mode():
            states = arch.reader({"input_ids": ids, "attention_mask": mask})["token_embeddings"]
    finally:
        arch.reader.train(training)
    selected: Tensor = states[mask.bool()]
    return selected


def _close(one: Tensor, other: Tensor) -> bool:
    import torch

    tolerance = 1e-4 if one.dtype == torch.float32 else 3e-2
    gap = (one.float() - other.float()).abs().max()
    return bool(gap <= tolerance * max(1.0, float(one.float().abs().max())))


def _failure(method: Provable, arch: Architecture, reason: str) -> UnsupportedModel:
    msg = (
        f"{method.name} does not work on {arch.class_name}: {reason}; "
        "use pcw, which leaves the transformer as it is"
    )
    return UnsupportedModel(msg)
