"""Changes to a model that undo themselves: the only way in which this package modifies one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import nn

_MISSING = object()

Inputs = tuple[tuple[Any, ...], dict[str, Any]]


@contextmanager
def pre_forward_hook(module: nn.Module, change: Callable[..., Inputs | None]) -> Iterator[None]:
    """Runs `change(module, args, kwargs)` before each forward pass of a module.

    What it returns, unless None, replaces the arguments.
    """
    handle = module.register_forward_pre_hook(change, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def forward_hook(
    module: nn.Module, change: Callable[..., object], *, always: bool = False
) -> Iterator[None]:
    """Runs `change(module, args, kwargs, output)` after each forward pass of a module.

    What it returns, unless None, replaces the output. `always` runs it after an exception too.
    """
    handle = module.register_forward_hook(change, with_kwargs=True, always_call=always)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def override_attribute(owner: object, name: str, value: object) -> Iterator[None]:
    """Sets an attribute of one object, past any property or `__setattr__` of its class."""
    previous = owner.__dict__.get(name, _MISSING)
    owner.__dict__[name] = value
    try:
        yield
    finally:
        if previous is _MISSING:
            owner.__dict__.pop(name, None)
        else:
            owner.__dict__[name] = previous


@contextmanager
def sequence_limit(model: SentenceTransformer, tokens: int) -> Iterator[None]:
    """Lets the tokenizer keep `tokens` tokens of a text, special tokens included.

    A fast tokenizer remembers the limit of its last call, so that is put back as well.
    """
    tokenizer = model.tokenizer
    limit = model.max_seq_length
    rust = getattr(tokenizer, "backend_tokenizer", None)
    truncation = rust.truncation if rust is not None else None
    padding = rust.padding if rust is not None else None
    model.max_seq_length = tokens
    try:
        yield
    finally:
        model.max_seq_length = limit
        if rust is not None:
            rust.no_truncation() if truncation is None else rust.enable_truncation(**truncation)
            rust.no_padding() if padding is None else rust.enable_padding(**padding)
