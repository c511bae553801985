"""A model of the Llama kind as `c/step.c` takes it: pointers to its weights, and its levels.

The weights of a model that was distributed in few bits (GGUF Q4_0, Q4_1, Q8_0) still lie on their
levels after unpacking to bfloat16: those are found again and read instead. Weights in float32 that
are those of a file in bfloat16 are read as such. All others are read where they lie.
"""

from __future__ import annotations

import copy
from ctypes import byref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from generator.kernels.library import (
    BF16,
    F32,
    LEVELS4,
    LEVELS8,
    Cache,
    Call,
    Layer,
    Matrix,
    Model,
    Unavailable,
    library,
)
from generator.lm.growing_cache import growing_layers
from generator.ms_poe.architectures import RotaryModel, recognise
from generator.ms_poe.method import active_settings, position_scales
from indexing.errors import UnsupportedModel

if TYPE_CHECKING:
    from torch import Tensor, nn

KINDS = ("llama", "mistral", "qwen2")
"""By `config.model_type`."""

_LANES, _GROUP = 16, 32
_LARGEST_HEAD = 1024
_WRONG = {"bfloat16": 0.3, "float32": 1e-3}
"""How far scores may be from the model's own in the self-test, by their norm."""


@dataclass(eq=False)
class Compiled:
    """A model's weights as `c/step.c` takes them.

    Attributes:
        rotary: Where it turns.
        described: The model in C.
        kept: What the pointers in it point to.
        matrices: How many there are.
        levels: How many of them are read by levels.
    """

    rotary: RotaryModel
    described: Model
    kept: list[Any]
    matrices: int = 0
    levels: int = 0

    @classmethod
    def of(cls, model: Any) -> Compiled:  # noqa: ANN401
        """Raises Unavailable where a model or a machine is of another kind."""
        rotary = _suitable(model)
        made = cls(rotary, Model(), [])
        made._describe(model)
        made._prove(model)
        return made

    def untouched(self) -> bool:
        """Whether nothing but Ms-PoE has changed the model."""
        settings = active_settings(self.rotary.model)
        expected = 0 if settings is None else 2 + 2 * len(settings.layers(self.rotary))
        found = sum(
            len(module._forward_hooks) + len(module._forward_pre_hooks) for module in self._modules
        )
        return found == expected

    def turns(self, cache: Any, rows: int) -> Tensor | None:  # noqa: ANN401
        """What positions are multiplied by, float32 (layers or 1, B or 1, K or 1, 1)."""
        import torch

        if active_settings(self.rotary.model) is None:
            return torch.ones(1, 1, 1, 1)
        found = position_scales(self.rotary, cache)
        return None if found is None or found.shape[1] not in {1, rows} else found[..., None]

    def step(self, tokens: Tensor, cache: Any, starts: Tensor, turns: Tensor) -> Tensor:  # noqa: ANN401
        """One token (B,) further: scores float32 (B, V); the cache grows by it.

        Args:
            tokens: Int64 (B,).
            cache: A reusable cache that is not empty.
            starts: Int64 (B,), the first token of each row that is no padding.
            turns: As `turns` gives them.
        """
        import torch

        rows, described = len(tokens), self.described
        length = int(cache.get_seq_length())
        layers = growing_layers(cache)
        buffers = [room.reserve(length + 1) for room in layers]
        in_c = (Cache * len(layers))(
            *(
                Cache(keys.data_ptr(), values.data_ptr(), keys.stride(0), keys.stride(1))
                for keys, values in buffers
            )
        )
        at = (length - starts).float()[:, None, None]  # (B, 1, 1)
        angles = (at * turns) * self.rotary.inverse()
        angles = angles.expand(-1, rows, described.groups, -1)
        gain = getattr(self.rotary.model.get_decoder().rotary_emb, "attention_scaling", 1.0)
        cosines = (angles.cos() * gain).contiguous()
        sines = (angles.sin() * gain).contiguous()
        states = self._embedded(tokens)
        scores = torch.empty(rows, described.head.rows)
        call = Call(
            rows=rows,
            threads=torch.get_num_threads(),
            length=length,
            starts=starts.data_ptr(),
            cache=in_c,
            cosines=cosines.data_ptr(),
            sines=sines.data_ptr(),
            wave=cosines.stride(0) if len(cosines) > 1 else 0,
            states=states.data_ptr(),
            scores=scores.data_ptr(),
        )
        if library().step(byref(described), byref(call)):
            raise MemoryError(f"no memory for one token after {length} in {rows} rows")
        for room in layers:
            room.set_length(length + 1)
        return scores

    def _embedded(self, tokens: Tensor) -> Tensor:
        embedded: Tensor = self.rotary.model.get_input_embeddings()(tokens)
        return embedded.float().contiguous()

    def _describe(self, model: Any) -> None:  # noqa: ANN401
        decoder, config, rotary = model.get_decoder(), model.config, self.rotary
        self._modules = list(model.modules())
        layers = [self._layer(layer) for layer in decoder.layers]
        self.described = Model(
            layers=len(layers),
            hidden=config.hidden_size,
            heads=rotary.heads,
            groups=rotary.groups,
            size=rotary.size,
            wide=config.intermediate_size,
            kept_as=_kind(model.dtype),
            epsilon=config.rms_norm_eps,
            scale=float(decoder.layers[0].self_attn.scaling),
            layer=self._keep((Layer * len(layers))(*layers)),
            norm=self._numbers(decoder.norm.weight),
            head=self._matrix(model.get_output_embeddings()),
        )

    def _layer(self, layer: Any) -> Layer:  # noqa: ANN401
        attention, mlp = layer.self_attn, layer.mlp
        return Layer(
            query=self._matrix(attention.q_proj),
            key=self._matrix(attention.k_proj),
            value=self._matrix(attention.v_proj),
            output=self._matrix(attention.o_proj),
            gate=self._matrix(mlp.gate_proj),
            up=self._matrix(mlp.up_proj),
            down=self._matrix(mlp.down_proj),
            before_attention=self._numbers(layer.input_layernorm.weight),
            before_mlp=self._numbers(layer.post_attention_layernorm.weight),
        )

    def _matrix(self, linear: nn.Linear) -> Matrix:
        weight = self._keep(_halved(linear.weight.detach()).contiguous())
        rows, columns = weight.shape
        bias = None if linear.bias is None else self._numbers(linear.bias)
        self.matrices += 1
        found = _on_levels(weight) if weight.dtype == linear.weight.dtype else None
        if found is None:
            return Matrix(_kind(weight.dtype), rows, columns, weight.data_ptr(), None, bias)
        self.levels += 1
        bits, words, factors = found
        self.kept += [words, factors]
        return Matrix(bits, rows, columns, words.data_ptr(), factors.data_ptr(), bias)

    def _numbers(self, tensor: Tensor) -> int:
        """Where its numbers lie as float32."""
        return int(self._keep(tensor.detach().float().contiguous()).data_ptr())

    def _keep(self, value: Any) -> Any:  # noqa: ANN401
        self.kept.append(value)
        return value

    def _prove(self, model: Any) -> None:  # noqa: ANN401
        """Two rows, one of them padded, against the model's own scores."""
        import torch

        words = min(model.config.vocab_size, 2000)
        ids = (torch.arange(2 * 9).view(2, 9) * 97 + words // 2) % words
        mask = torch.ones_like(ids)
        mask[1, :3] = 0
        at = (mask.cumsum(dim=1) - 1).clamp(min=0)
        with torch.inference_mode():
            before = {"attention_mask": mask[:, :-1], "position_ids": at[:, :-1]}
            cache = model(input_ids=ids[:, :-1], use_cache=True, **before).past_key_values
            after = {"attention_mask": mask, "position_ids": at[:, -1:]}
            theirs = model(input_ids=ids[:, -1:], past_key_values=copy.deepcopy(cache), **after)
            whole = theirs.logits[:, -1].float()
            turns = self.turns(cache, 2)
            if turns is None:
                raise Unavailable("another method has changed it")
            found = self.step(ids[:, -1], cache, torch.tensor([0, 3]), turns)
        off = float((found - whole).norm() / whole.norm())
        if not off <= _WRONG[str(model.dtype).removeprefix("torch.")]:
            raise Unavailable(f"its compiled code is off by {off:.2g} here")


def _suitable(model: Any) -> RotaryModel:  # noqa: ANN401
    """Raises Unavailable where a model is of another kind."""
    import torch

    config = model.config
    if config.model_type not in KINDS:
        raise Unavailable(f"{config.model_type} is not among {', '.join(KINDS)}")
    if model.device.type != "cpu":
        raise Unavailable(f"it runs on {model.device.type}")
    kinds = {each.dtype for each in model.parameters()}
    if kinds not in ({torch.bfloat16}, {torch.float32}):
        raise Unavailable(f"its weights are {', '.join(sorted(map(str, kinds)))}")
    if active_settings(model) is None and any(module._forward_hooks for module in model.modules()):
        raise Unavailable("another method has changed it")
    try:
        rotary = recognise(model)
    except UnsupportedModel as error:
        raise Unavailable(str(error)) from error
    if config.hidden_act != "silu" or not _usual(model, rotary):
        raise Unavailable("its layers have other parts than known ones")
    library()
    return rotary


def _usual(model: Any, rotary: RotaryModel) -> bool:  # noqa: ANN401
    """Whether its layers are alike, see all tokens, turn whole heads, and hold plain matrices."""
    import torch

    layers = model.get_decoder().layers
    parts = [
        *(
            part
            for layer in layers
            for part in (*layer.self_attn.children(), *layer.mlp.children())
        ),
        model.get_output_embeddings(),
    ]
    plain = all(type(part) is torch.nn.Linear for part in parts if hasattr(part, "weight"))
    windows = len(rotary.layers) != len(layers) or any(layer.window for layer in rotary.layers)
    whole = (
        2 * len(rotary.inverse()) == rotary.size
        and "longrope" not in rotary.rotary.rope_types.values()
    )
    odd = rotary.size % _LANES or rotary.size > _LARGEST_HEAD
    return plain and whole and not windows and not odd


def _kind(dtype: Any) -> int:  # noqa: ANN401 - a torch.dtype
    import torch

    return BF16 if dtype == torch.bfloat16 else F32


def _halved(weight: Tensor) -> Tensor:
    """The same numbers as bfloat16 where that holds them all: half as much to read."""
    import torch

    half = weight.bfloat16()
    return half if torch.equal(half.to(weight.dtype), weight) else weight


def _on_levels(weight: Tensor) -> tuple[int, Tensor, Tensor] | None:
    """Bits, words and scales of bfloat16 weights (out, in) that lie on levels."""
    import torch

    rows, columns = weight.shape
    if weight.dtype != torch.bfloat16 or rows % _LANES or columns % _GROUP:
        return None
    position_scales = torch.empty(rows // _LANES, columns // _GROUP, 2, _LANES)
    for bits in (LEVELS4, LEVELS8):
        words = torch.empty(rows * columns * bits // 32, dtype=torch.int32)
        found = library().pack(
            weight.data_ptr(), rows, columns, bits, words.data_ptr(), position_scales.data_ptr(),
            torch.get_num_threads(),
        )  # fmt: skip
        if found:
            return bits, words, position_scales
    return None
