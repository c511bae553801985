"""LPES: each layer reads the positions on its own scale.

"Mitigating Position Bias in Transformers via Layer-Specific Positional Embedding Scaling", arXiv
2606.27705. In layer l, position m becomes m / scales[l]: linear position interpolation, layer by
layer. The scales lie on a Bezier curve over the depth, so that a search for them has few numbers to
find (`rag_app.laboratory.calibration.genetic_search`).

Cosines and sines are handed to each attention layer, so nothing is computed twice and no token
takes longer. A layer of scale 1 gets those of the model itself.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from generator.ms_poe.architectures import RotaryLayer, RotaryModel, recognise
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
from generator.ms_poe.selftest import prove
from indexing.errors import InvalidRequest
from indexing.nn.architecture import FULL
from indexing.nn.hooks import Inputs, forward_hook, override_attribute, pre_forward_hook

if TYPE_CHECKING:
    from torch import Tensor

_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class LPES:
    """Applied by `with LPES(...)(model):`, undone on leaving, even by an exception."""

    scales: tuple[float, ...]  # what each layer divides positions by, the first one's first

    def __post_init__(self) -> None:
        if not self.scales or not all(0 < scale < math.inf for scale in self.scales):
            raise InvalidRequest(f"scales must be positive, one a layer: {self.scales}")

    @classmethod
    def on_curve(cls, points: Sequence[float], layers: int) -> LPES:
        """Scales on a Bezier curve whose control points are evenly spaced over the layers.

        The first and the last point are the scales of the first and the last layer.
        """
        depths = [layer / max(1, layers - 1) for layer in range(layers)]
        return cls(scales=tuple(round(bezier(points, depth), _DIGITS) for depth in depths))

    @property
    def by_prompt(self) -> bool:
        """Never: the scales are the same for every prompt."""
        return False

    @contextmanager
    def __call__(self, model: AnyModel) -> Iterator[AnyModel]:
        """Changes a transformers model, or the one inside a `CausalModel`.

        Raises:
            UnsupportedModel: The architecture is not known, or the self-test on it failed.
            InvalidRequest: The scales do not fit the model, or it is changed already.
        """
        rotary = recognise(inner_model(model, "LPES"))
        depth = len(rotary.model.get_decoder().layers)
        if len(self.scales) != depth:
            raise InvalidRequest(
                f"{len(self.scales)} scales are given for {depth} layers; calibrate this very model"
            )
        prove(rotary, lambda one: LPES(scales=(one,) * depth).apply(rotary), method="LPES")
        with self.apply(rotary):
            yield model

    def layers(self, rotary: RotaryModel) -> tuple[RotaryLayer, ...]:
        """The layers that are changed."""
        return tuple(layer for layer in rotary.layers if self.scales[layer.index] != 1)

    def hook_count(self, rotary: RotaryModel) -> int:
        """One where positions are made, and one a layer."""
        return 1 + len(self.layers(rotary))

    def position_scales(self, rotary: RotaryModel, cache: object) -> Tensor | None:
        """As of `PositionMethod`: (layers, 1, 1)."""
        import torch

        cached = cached_places(cache)
        if self.layers(rotary) and (cached is None or cached.settings != self):
            return None
        return 1 / torch.tensor(self.scales, dtype=torch.float32)[:, None, None]

    @contextmanager
    def apply(self, rotary: RotaryModel) -> Iterator[None]:
        """Changes the model without proving it first."""
        refuse_changed(rotary.model)
        hooks = _Hooks(self, rotary)
        layers = self.layers(rotary)
        with ExitStack() as stack:
            stack.enter_context(override_attribute(rotary.model, MARK, self))
            stack.enter_context(forward_hook(rotary.rotary.module, hooks.positions))
            for number, layer in enumerate(layers):
                hook = hooks.hook(layer, first=number == 0)
                stack.enter_context(pre_forward_hook(layer.attention, hook))
            yield


def bezier(points: Sequence[float], at: float) -> float:
    """The height of a Bezier curve whose control points are evenly spaced; `at` is 0 to 1."""
    degree = len(points) - 1
    return sum(
        math.comb(degree, k) * at**k * (1 - at) ** (degree - k) * point
        for k, point in enumerate(points)
    )


class _ForwardPass(threading.local):
    """One forward pass of one thread."""

    positions: Tensor  # (B or 1, n)
    dtype: Any  # of the model's own cosines and sines
    cos_sin: dict[float, tuple[Tensor, Tensor]]  # by scale, (B or 1, n, d)


@dataclass(eq=False)
class _Hooks:
    """LPES on one model."""

    settings: LPES
    rotary: RotaryModel
    now: _ForwardPass = field(default_factory=_ForwardPass)

    def positions(
        self,
        _: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        output: tuple[Tensor, Tensor],
    ) -> None:
        """After the model made its own cosines and sines."""
        positions = full_positions(args, kwargs)
        if positions is not None:
            self.now.positions, self.now.dtype, self.now.cos_sin = positions, output[0].dtype, {}

    def hook(self, layer: RotaryLayer, *, first: bool) -> Callable[..., Inputs]:
        """What to run before an attention layer."""
        scale = self.settings.scales[layer.index]

        def replace(_: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs:
            cache = kwargs.get("past_key_values")
            if first and cache is not None and not is_begun(cache, layer.index, self.settings):
                setattr(cache, MARK, CachedPlaces(self.settings))
            return args, {**kwargs, "position_embeddings": self._cos_sin(scale)}

        return replace

    def _cos_sin(self, scale: float) -> tuple[Tensor, Tensor]:
        """Cosines and sines of the positions divided by a scale, for all layers that share it."""
        from indexing.nn.rope import cos_sin

        now = self.now
        if scale not in now.cos_sin:
            inverse, gain = self.rotary.rotary.frequencies(FULL)
            inverse = inverse.to(now.positions.device)
            cos, sin = cos_sin(now.positions / scale, inverse, gain)
            now.cos_sin[scale] = cos.to(now.dtype), sin.to(now.dtype)
        return now.cos_sin[scale]
