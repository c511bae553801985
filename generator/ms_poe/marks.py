"""What Ms-PoE leaves on a model while it is changed, and on the caches that were filled then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from indexing.errors import InvalidRequest

if TYPE_CHECKING:
    from torch import Tensor

    from generator.ms_poe.method import MsPoE

MARK = "_rag_app_ms_poe"


def active_settings(model: Any) -> MsPoE | None:  # noqa: ANN401 - any transformers model
    """The settings that a model is changed by now, or None."""
    settings: MsPoE | None = getattr(model, MARK, None)
    return settings


@dataclass(eq=False)
class CachedPlaces:
    """The settings a cache was filled under, kept on it: copies of the cache have them too.

    Attributes:
        settings: What it was filled under.
        places: The places of a conversation's groups, int64 (layers, B, K), by changed layer.
    """

    settings: MsPoE
    places: Tensor


def cached_places(cache: object) -> CachedPlaces | None:
    """What a cache that was filled under Ms-PoE holds, or None."""
    return getattr(cache, MARK, None)


def keep_rows(cache: Any, rows: Tensor) -> None:  # noqa: ANN401 - any transformers cache
    """Drops rows of a cache's batch, and their places with them.

    Args:
        cache: A transformers cache.
        rows: Int64, the rows to keep, in order.
    """
    cache.batch_select_indices(rows)
    cached = cached_places(cache)
    if cached is not None and cached.places.shape[1] > 1:
        cached.places = cached.places[:, rows]


def is_begun(cache: Any, layer: int, settings: MsPoE) -> bool:  # noqa: ANN401
    """Whether a cache holds tokens already.

    Raises:
        InvalidRequest: It was filled under others.
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
