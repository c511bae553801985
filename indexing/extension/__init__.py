"""Context extension: embedding models that read texts longer than they were made for.

Methods and formulas: LongEmbed (Zhu et al., arXiv 2404.12096). One method is one file and one
frozen dataclass; `with method(model):` applies it and undoes it bit for bit. `extend` does the
same for a model that stays extended.

    with InterpolatedPositions(max_length=4096)(model), EntropyScaling()(model):
        vectors = model.encode(documents)

| name        | positions        | s                    | within the original window            |
|-------------|------------------|----------------------|---------------------------------------|
| none        | any              | none                 | the untouched model                   |
| pcw         | any              | none                 | the untouched model                   |
| gp          | absolute, rotary | target or own length | the untouched model                   |
| rp          | absolute         | none                 | the untouched model                   |
| pi          | absolute, rotary | target or own length | the untouched model                   |
| ntk         | rotary           | target or own length | untouched; not in the paper's form    |
| self-extend | rotary           | target length        | the untouched model                   |
| tuned:FILE  | absolute         | the file's length    | the untouched model                   |

`NAME+entropy` scales the attention queries as well (`entropy.py`); not for none and pcw, where
nothing would change.

No method goes by the padded length of a batch, so a text's vector is the same in any company.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from indexing.errors import InvalidRequest
from indexing.extension.entropy import SUFFIX, EntropyScaling
from indexing.extension.gp import GroupedPositions
from indexing.extension.method import Change, Extension
from indexing.extension.none import NoExtension
from indexing.extension.ntk import NtkScaling
from indexing.extension.pcw import ParallelWindows
from indexing.extension.pi import InterpolatedPositions
from indexing.extension.rp import RecurrentPositions
from indexing.extension.self_extend import SelfExtend
from indexing.extension.table import supported_by
from indexing.extension.tuned import PREFIX, TunedPositions
from indexing.nn.architecture import Architecture, recognise

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

METHODS: dict[str, type[Extension]] = {
    method.name: method
    for method in (
        NoExtension,
        ParallelWindows,
        GroupedPositions,
        RecurrentPositions,
        InterpolatedPositions,
        NtkScaling,
        SelfExtend,
    )
}

_STACK = "_extension"


def supported(model: SentenceTransformer) -> tuple[str, ...]:
    """The names of the methods that are defined for a model."""
    return supported_by(recognise(model))


def build_method(name: str, *, max_length: int | None = None) -> Change:
    """A method with its standard settings.

    Args:
        name: From `METHODS`, or `tuned:FILE` with a file that `rag-app tune` has written.
        max_length: L_t in tokens; a file of tuned positions has its own.

    Raises:
        InvalidRequest: No such method, or a length is missing, or is not that of the file.
        UnreadableFile: It is no file of tuned positions.
    """
    if name.startswith(PREFIX):
        return TunedPositions.parse(name, max_length=max_length)
    if name not in METHODS:
        raise InvalidRequest(f"no extension is called {name!r}; there are: {', '.join(METHODS)}")
    if max_length is None:
        raise InvalidRequest(f"give max_length with the name {name!r}")
    return METHODS[name](max_length=max_length)


def split_entropy(name: str) -> tuple[str, bool]:
    """A method's name without `+entropy`, and whether that was there.

    Raises:
        InvalidRequest: The method leaves the model as it is, so there is nothing to scale.
    """
    method = name.removesuffix(SUFFIX)
    if method != name and method in (NoExtension.name, ParallelWindows.name):
        raise InvalidRequest(
            f"{name} is the same as {method}, which never reads beyond the model's window; "
            f"put {SUFFIX} after another method"
        )
    return method, method != name


def extend(
    model: SentenceTransformer,  # what to extend
    method: str | Change,  # a name, as for `build_method`, or a method with settings of its own
    *,
    # L_t in tokens; as for `build_method`, and not to be given with a method
    max_length: int | None = None,
    entropy: bool = False,  # scale the attention queries as well
) -> SentenceTransformer:
    """Extends a model in place, so that plain `model.encode` reads long texts.

    An extension that the model already has is undone first.

    Returns:
        The same model. `restore` undoes the extension.

    Raises:
        UnsupportedModel: The method is not defined for the model, or its self-test failed.
        InvalidRequest: No such method, or a length is missing or given twice.
        UnreadableFile: It is no file of tuned positions.
    """
    if isinstance(method, str):
        method = build_method(method, max_length=max_length)
    elif max_length is not None:
        raise InvalidRequest("give max_length with a method's name, and only then")
    restore(model)
    with ExitStack() as stack:
        if entropy:
            stack.enter_context(EntropyScaling(original=getattr(method, "original", None))(model))
        stack.enter_context(method(model))
        model.__dict__[_STACK] = stack.pop_all()
    return model


def is_extended(model: SentenceTransformer) -> bool:
    """Whether `extend` has changed a model."""
    return _STACK in model.__dict__


def restore(model: SentenceTransformer) -> SentenceTransformer:
    """Undoes `extend`, bit for bit; a model without an extension stays as it is."""
    stack = model.__dict__.pop(_STACK, None)
    if stack is not None:
        stack.close()
    return model


__all__ = [
    "METHODS",
    "Architecture",
    "Change",
    "EntropyScaling",
    "Extension",
    "GroupedPositions",
    "InterpolatedPositions",
    "NoExtension",
    "NtkScaling",
    "ParallelWindows",
    "RecurrentPositions",
    "SelfExtend",
    "TunedPositions",
    "build_method",
    "extend",
    "is_extended",
    "recognise",
    "restore",
    "split_entropy",
    "supported",
    "supported_by",
]
