"""Ms-PoE: each head reads the positions on its own scale, so that fewer are far away.

Zhang et al., "Found in the Middle: How Language Models Use Long Contexts Better via Plug-and-Play
Positional Encoding", arXiv 2403.04797, section 3. Position m becomes m / r, with r from `r_min` for
the heads that single out most keys to `r_max` for those that single out fewest.

No code of the model is copied. Rotations add up: rotating queries and keys by m * theta * (1/r - 1)
where they leave their projections, before the model rotates them by m * theta, gives m * theta / r.
The model's own attention kernel, mask and cache stay as they are. All heads that share keys share
a ratio (the mean S_P of the group decides): otherwise logits would not depend on distance alone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from generator.ms_poe.architectures import RotaryLayer, RotaryModel, recognise
from generator.ms_poe.position_awareness import awareness, last_seen, ranks, ratios
from generator.ms_poe.position_method import (
    MARK,
    AnyModel,
    CachedPlaces,
    cached_places,
    full_positions,
    inner_model,
    is_begun,
    refuse_changed,
)
from generator.ms_poe.rotation import Rotation
from generator.ms_poe.selftest import prove
from indexing.errors import InvalidRequest
from indexing.nn.hooks import forward_hook, override_attribute, pre_forward_hook

if TYPE_CHECKING:
    from torch import Tensor

Order = Literal["prompt", "calibrated", "uniform"]


@dataclass(frozen=True, kw_only=True)
class MsPoE:
    """Applied by `with MsPoE(...)(model):`, undone on leaving, even by an exception.

    Attributes:
        r_min: Ratio of the groups that single out most keys.
        r_max: Ratio of those that single out fewest.
        first_layer: Layers before this one keep their positions.
        last_layer: Layers after this one keep them too; None for no such layers.
        order: What decides which group gets which ratio. "prompt": S_P at the end of the prompt,
            again for each conversation and each row of a batch. "calibrated": `places`, the same
            for every prompt, so that caches of shared prefixes can be used again. "uniform": all
            groups have the mean of r_min and r_max.
        places: For "calibrated", the mean place of each group, by layer (layers, K), as
            `measure_places` gives it.
    """

    r_min: float = 1.2
    r_max: float = 1.8
    first_layer: int = 2
    last_layer: int | None = None
    order: Order = "prompt"
    places: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        if not (0 < self.r_min < float("inf") and 0 < self.r_max < float("inf")):
            raise InvalidRequest(f"ratios must be positive: {self.r_min}, {self.r_max}")
        if self.order not in {"prompt", "calibrated", "uniform"}:
            raise InvalidRequest(f"no order {self.order!r}; use prompt, calibrated or uniform")
        if (self.order == "calibrated") != bool(self.places):
            raise InvalidRequest("places go with order 'calibrated', and only with it")

    @contextmanager
    def __call__(self, model: AnyModel) -> Iterator[AnyModel]:
        """Changes a transformers model, or the one inside a `CausalModel`.

        The ratios of a conversation stay with its cache: several can take turns.

        Raises:
            UnsupportedModel: The architecture is not known, or the self-test on it failed.
            InvalidRequest: The settings do not fit the model, or it is changed already.
        """
        rotary = recognise(inner_model(model, "Ms-PoE"))
        self.check(rotary)
        prove(rotary, lambda ratio: MsPoE(r_min=ratio, r_max=ratio, first_layer=0).apply(rotary))
        with self.apply(rotary):
            yield model

    def check(self, rotary: RotaryModel) -> None:
        """Raises InvalidRequest where the settings do not fit the model."""
        if not self.layers(rotary):
            raise InvalidRequest(f"no rotary layer from {self.first_layer} to {self.last_layer}")
        depth = max(layer.index for layer in rotary.layers) + 1
        if self.places and (
            len(self.places) < depth or any(len(row) != rotary.num_kv_heads for row in self.places)
        ):
            raise InvalidRequest(
                f"places must have {depth} rows of {rotary.num_kv_heads}; calibrate this very model"
            )

    @property
    def by_prompt(self) -> bool:
        """Whether each prompt decides which group gets which ratio."""
        return self.order == "prompt"

    def hook_count(self, rotary: RotaryModel) -> int:
        """One where positions are made, one where they are first used, and two a layer."""
        return 2 + 2 * len(self.layers(rotary))

    def position_scales(self, rotary: RotaryModel, cache: object) -> Tensor | None:
        """As of `PositionMethod`: (layers, B or 1, K)."""
        import torch

        cached = cached_places(cache)
        if cached is None or cached.settings != self or cached.places is None:
            return None
        count = 1 if self.order == "uniform" else rotary.num_kv_heads
        shares = 1 / torch.tensor(ratios(self.r_min, self.r_max, count), dtype=torch.float32)
        depth = max(layer.index for layer in rotary.layers) + 1
        factors = torch.ones(depth, *cached.places.shape[1:], dtype=torch.float32)
        factors[[layer.index for layer in self.layers(rotary)]] = shares[cached.places.cpu()]
        return factors

    def layers(self, rotary: RotaryModel) -> tuple[RotaryLayer, ...]:
        """The layers that are changed."""
        last = float("inf") if self.last_layer is None else self.last_layer
        return tuple(layer for layer in rotary.layers if self.first_layer <= layer.index <= last)

    @contextmanager
    def apply(self, rotary: RotaryModel) -> Iterator[None]:
        """Changes the model without proving it first."""
        refuse_changed(rotary.model)
        hooks = _Hooks(self, rotary)
        with ExitStack() as stack:
            stack.enter_context(override_attribute(rotary.model, MARK, self))
            stack.enter_context(forward_hook(rotary.rotary.module, hooks.positions))
            first = hooks.layers[0]
            stack.enter_context(pre_forward_hook(first.attention, hooks.begin))
            for number, layer in enumerate(hooks.layers):
                for module, hook in hooks.hooks(number, layer):
                    stack.enter_context(forward_hook(module, hook))
            yield


class _ForwardPass(threading.local):
    """One forward pass of one thread."""

    cos_sin: tuple[Tensor, Tensor]  # the model's own, (B or 1, n, d)
    model_rotation: Rotation  # the same, float32 (B or 1, n, 1, d / 2)
    last_cos_sin: tuple[Tensor, Tensor]  # the same at the last token of each row, (B, 1, 1, d)
    ratio_cos_sin: tuple[Tensor, Tensor]  # of the rotation each ratio adds, (B or 1, n, R, d / 2)
    places: Tensor  # (layers, B or 1, K)
    deciding: bool = False
    last: tuple[Tensor, Tensor]  # (B,) rows, and the last token of each
    seen: Tensor | None  # bool (B, n) by that token, None for all
    queries: Tensor


@dataclass(eq=False)
class _Hooks:
    """Ms-PoE on one model."""

    settings: MsPoE
    rotary: RotaryModel
    layers: tuple[RotaryLayer, ...] = ()
    now: _ForwardPass = field(default_factory=_ForwardPass)

    def __post_init__(self) -> None:
        import torch

        self.layers = self.settings.layers(self.rotary)
        one = self.settings.order == "uniform"
        count = 1 if one else self.rotary.num_kv_heads
        position_scales = ratios(self.settings.r_min, self.settings.r_max, count)
        self.shifts = torch.tensor([1 / r - 1 for r in position_scales], dtype=torch.float32)
        self.fixed: Tensor | None = None
        if self.settings.order == "calibrated":
            rows = torch.tensor([self.settings.places[layer.index] for layer in self.layers])
            self.fixed = rows.argsort(dim=-1, stable=True).argsort(dim=-1)[:, None]
        if one:
            self.fixed = torch.zeros(
                len(self.layers), 1, self.rotary.num_kv_heads, dtype=torch.int64
            )

    def positions(
        self,
        _: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        output: tuple[Tensor, Tensor],
    ) -> None:
        """After the model made its cosines and sines: those that the ratios add."""
        at = full_positions(args, kwargs)
        if at is None:
            return
        inv_freq = self.rotary.inv_freq().to(at.device)
        frequencies = self.shifts.to(at.device)[:, None] * inv_freq  # (R, d / 2)
        angles = at[..., None, None].float() * frequencies
        self.now.cos_sin = output
        self.now.ratio_cos_sin = angles.cos(), angles.sin()

    def begin(self, _: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before the first changed layer: the places of this conversation, if they are known."""
        hidden: Tensor = kwargs["hidden_states"] if "hidden_states" in kwargs else args[0]
        self.now.places = self._places(kwargs.get("past_key_values"), len(hidden), hidden)
        if self.now.deciding:
            self._look_at_end(kwargs.get("attention_mask"), hidden)

    def _look_at_end(self, mask: Tensor | None, hidden: Tensor) -> None:
        """What all layers need to decide by: the last token of each row, and what it sees."""
        import torch

        rows, n = hidden.shape[:2]
        last, seen = last_seen(mask, rows, n, self.layers[0].window)
        row, last = torch.arange(rows, device=hidden.device), last.to(hidden.device)
        now = self.now
        cos, sin = (each.expand(rows, n, -1)[row, last][:, None, None] for each in now.cos_sin)
        now.last, now.last_cos_sin = (row, last), (cos, sin)
        now.seen = None if bool(seen.all()) else seen.to(hidden.device)
        now.model_rotation = _without_repeat(*now.cos_sin, self.rotary.num_kv_heads)

    def hooks(self, number: int, layer: RotaryLayer) -> Iterator[tuple[Any, Any]]:
        """What to run after which module of a layer."""

        def keep_queries(_: object, __: object, ___: object, output: Tensor) -> None:
            self.now.queries = output

        def rotate(_: object, __: object, ___: object, output: Tensor) -> None:
            self.rotate(number, layer, output)

        yield layer.query, keep_queries
        yield layer.key, rotate

    def rotate(self, number: int, layer: RotaryLayer, output: Tensor) -> None:
        """After the keys, which come last: rotates queries and keys in place."""
        from indexing.nn.rope import rotate_

        now = self.now
        queries, keys = self.rotary.split_heads(now.queries, output)
        if now.deciding:
            now.places[number] = self._decide(layer, queries, keys)
        angles = Rotation(*now.ratio_cos_sin, now.places[number]).by_head()
        rotate_(queries, *angles)
        rotate_(keys, *angles)

    def _places(self, cache: Any, rows: int, hidden: Tensor) -> Tensor:  # noqa: ANN401
        """(layers, B or 1, K), to be filled in this pass where a conversation begins."""
        begun = is_begun(cache, self.layers[0].index, self.settings)
        self.now.deciding = not begun and self.fixed is None
        cached = cached_places(cache) if begun else None
        if cached is not None and cached.places is not None:
            if cached.places.shape[1] not in {1, rows}:
                raise InvalidRequest(
                    f"a cache of {cached.places.shape[1]} rows is used for {rows}; take rows out "
                    "with ms_poe.keep_rows, or use the order 'calibrated'"
                )
            return cached.places
        places = self.fixed
        if places is None:
            places = hidden.new_zeros(len(self.layers), rows, self.rotary.num_kv_heads).long()
        places = places.to(hidden.device)
        if cache is not None:
            setattr(cache, MARK, CachedPlaces(self.settings, places))
        return places

    def _decide(self, layer: RotaryLayer, queries: Tensor, keys: Tensor) -> Tensor:
        """The places of a layer's groups by its own attention at the end of the prompt: (B, K)."""
        import torch

        from indexing.nn.rope import rotate, rotate_

        rows, n, num_kv_heads, heads_per_group, _ = queries.shape
        last = rotate(queries[self.now.last].float(), *self.now.last_cos_sin)  # (B, K, g, D)
        rotated = keys.to(torch.float32, copy=True)
        rotate_(rotated, *self.now.model_rotation.by_head())
        logits = torch.einsum("bkgd,bnkd->bkgn", last, rotated[:, :, :, 0])
        logits = _scale(logits.reshape(rows, num_kv_heads * heads_per_group, n), layer.attention)
        heads = awareness(logits, self.now.seen).view(rows, num_kv_heads, heads_per_group)
        return ranks(heads.sum(dim=-1))


def _without_repeat(cos: Tensor, sin: Tensor, num_kv_heads: int) -> Rotation:
    """A model's cosines and sines (B or 1, n, d), whose halves are equal, one for all heads."""
    half = cos.shape[-1] // 2
    cos, sin = (each[:, :, None, :half].float().contiguous() for each in (cos, sin))
    return Rotation(cos, sin, cos.new_zeros(1, num_kv_heads).long())


def _scale(logits: Tensor, attention: Any) -> Tensor:  # noqa: ANN401 - any attention layer
    """Attention logits scaled as the layer does, with its soft cap if it has one (Gemma 2)."""
    logits = logits * attention.scaling
    cap = getattr(attention, "attn_logit_softcapping", None)
    return logits if cap is None else (logits / cap).tanh() * cap


def measure_places(model: Any, prompts: list[list[int]]) -> tuple[tuple[float, ...], ...]:  # noqa: ANN401
    """The mean place of each group over prompts in the untouched model, for a static order.

    One row a layer; zeros for layers that do not rotate.
    """
    import torch

    inner = inner_model(model, "Ms-PoE")
    rotary = recognise(inner)
    watching = MsPoE(r_min=1.0, r_max=1.0, first_layer=0)
    depth = max(layer.index for layer in rotary.layers) + 1
    total = torch.zeros(depth, rotary.num_kv_heads, dtype=torch.float32)
    with watching(inner), torch.inference_mode():
        for prompt in prompts:
            ids = torch.tensor([prompt], device=inner.device)
            cache = inner.get_decoder()(input_ids=ids, use_cache=True).past_key_values
            cached = cached_places(cache)
            assert cached is not None and cached.places is not None
            for layer, places in zip(watching.layers(rotary), cached.places[:, 0], strict=True):
                total[layer.index] += places.cpu()
    rows: list[list[float]] = (total / len(prompts)).tolist()
    return tuple(tuple(round(place, 4) for place in row) for row in rows)
