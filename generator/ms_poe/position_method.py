"""What Ms-PoE and LPES have in common: settings that change how a model reads positions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from indexing.errors import InvalidRequest, UnsupportedModel
from indexing.nn.architecture import FULL

if TYPE_CHECKING:
    from torch import Tensor

    from generator.ms_poe.architectures import RotaryModel

AnyModel = TypeVar("AnyModel")

MARK = "_rag_app_ms_poe"  # on a model while it is changed, and on a cache that was filled then


class PositionMethod(Protocol):
    """Settings that rescale a model's positions; hashable, as caches are found by them."""

    def __hash__(self) -> int: ...

    @property
    def by_prompt(self) -> bool:
        """Whether each prompt decides its scales, so that no two prompts share what was read."""
        ...

    def __call__(self, model: AnyModel) -> AbstractContextManager[AnyModel]:
        """Change a transformers model, or the one inside a `CausalModel`, until the `with` ends."""
        ...

    def hook_count(self, rotary: RotaryModel) -> int:
        """How many hooks the model has while it is changed."""
        ...

    def position_scales(self, rotary: RotaryModel, cache: object) -> Tensor | None:
        """What a conversation that has begun multiplies its positions by.

        Returns:
            Float32 (layers, B or 1, K or 1), by layer and group; None where the cache was not
            filled under these settings.
        """
        ...


def active_settings(model: Any) -> PositionMethod | None:  # noqa: ANN401 - any transformers model
    """The settings that a model is changed by now, or None."""
    settings: PositionMethod | None = getattr(model, MARK, None)
    return settings


@dataclass(eq=False)
class CachedPlaces:
    """The settings a cache was filled under, kept on it: copies of the cache have them too."""

    settings: PositionMethod  # what it was filled under
    places: Tensor | None = None  # of groups under Ms-PoE, int64 (layers, B, K), by changed layer


def cached_places(cache: object) -> CachedPlaces | None:
    """What a cache that was filled under a method holds, or None."""
    return getattr(cache, MARK, None)


def keep_rows(cache: Any, rows: Tensor) -> None:  # noqa: ANN401 - any transformers cache
    """Keeps some rows, int64, of a cache's batch, and their places with them."""
    cache.batch_select_indices(rows)
    cached = cached_places(cache)
    if cached is not None and cached.places is not None and cached.places.shape[1] > 1:
        cached.places = cached.places[:, rows]


def inner_model(model: Any, method: str) -> Any:  # noqa: ANN401 - any model
    """The transformers model itself.

    Raises:
        UnsupportedModel: It has none inside.
    """
    inner = model if hasattr(model, "get_decoder") else getattr(model, "model", None)
    if not hasattr(inner, "get_decoder"):
        raise UnsupportedModel(
            f"{method} needs the inside of a model: use a folder or a hub name, no server's model"
        )
    return inner


def refuse_changed(model: Any) -> None:  # noqa: ANN401 - a transformers model
    """Raises InvalidRequest where a model's positions are rescaled already."""
    if MARK in model.__dict__:
        raise InvalidRequest("Ms-PoE or LPES is already applied to this model; leave that first")


def is_begun(cache: Any, layer: int, settings: PositionMethod) -> bool:  # noqa: ANN401
    """Whether a cache, if there is one, holds tokens of a layer already.

    Raises:
        InvalidRequest: It was filled under other settings.
    """
    if cache is None or not int(cache.get_seq_length(layer)):
        return False
    cached = cached_places(cache)
    if cached is None or cached.settings != settings:
        raise InvalidRequest(
            "this cache was filled without rescaled positions, or with other settings of them; "
            "start with an empty one"
        )
    return True


def full_positions(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor | None:
    """The positions that a rotary module is asked for, (B or 1, n).

    None where it is asked for those of layers that see only a window.
    """
    named = ("x", "position_ids", "layer_type")
    given = {**dict(zip(named, args, strict=False)), **kwargs}
    positions: Tensor = given["position_ids"]
    return positions if given.get("layer_type", FULL) == FULL else None
