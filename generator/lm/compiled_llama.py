"""A Llama model in the form that `c/step.c` takes: pointers to its weights, quantized or dense.

Matrices whose codes and scales were kept when a GGUF file was converted (`models.quantization`) are
read in their 4 or 8 bits, where they still are the model's weights. Weights in float32 that come
from a file in bfloat16 are read as bfloat16. All others are read where they lie.
"""

from __future__ import annotations

import copy
from ctypes import byref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.kernels.library import BF16, F32, Q4, Q8, Cache, Call, Layer, Matrix, Model, library
from generator.lm.caches.growing_cache import growing_layers
from generator.ms_poe.architectures import RotaryModel, recognise
from generator.ms_poe.position_method import active_settings
from indexing.errors import UnsupportedModel
from indexing.kernels.library import Unavailable
from indexing.models.formats import quantization
from indexing.models.formats.quantization import Quantized

if TYPE_CHECKING:
    from torch import Tensor, nn

KINDS = ("llama", "mistral", "qwen2")
"""By `config.model_type`."""

_LANES = 16
_MAX_HEAD_DIM = 1024
_TOLERANCE = {"bfloat16": 0.3, "float32": 1e-3}
"""How far logits may be from the model's own in the self-test, relative to their norm."""


@dataclass(eq=False)
class CompiledLlama:
    """A model's weights as `c/step.c` takes them."""

    rotary: RotaryModel  # where it rotates
    folder: Path | None  # where its files are; None for a model without any
    struct: Model
    buffers: list[Any]  # what the pointers in it point to
    matrices: int = 0  # how many there are
    quantized: int = 0  # how many of them are read by their codes

    @classmethod
    def build(cls, model: Any, folder: Path | None = None) -> CompiledLlama:  # noqa: ANN401
        """Raises Unavailable where a model or a machine is of another kind."""
        compiled = cls(_check(model), folder, Model(), [])
        compiled._fill(model)
        compiled._self_test(model)
        return compiled

    def is_unmodified(self) -> bool:
        """Whether nothing but Ms-PoE or LPES has changed the model."""
        settings = active_settings(self.rotary.model)
        expected = 0 if settings is None else settings.hook_count(self.rotary)
        hooks = sum(
            len(module._forward_hooks) + len(module._forward_pre_hooks) for module in self._modules
        )
        return hooks == expected

    def scales(self, cache: Any, rows: int) -> Tensor | None:  # noqa: ANN401
        """What positions are multiplied by, float32 (layers or 1, B or 1, K or 1, 1)."""
        import torch

        settings = active_settings(self.rotary.model)
        if settings is None:
            return torch.ones(1, 1, 1, 1, dtype=torch.float32)
        scales = settings.position_scales(self.rotary, cache)
        return None if scales is None or scales.shape[1] not in {1, rows} else scales[..., None]

    def step(self, tokens: Tensor, cache: Any, starts: Tensor, scales: Tensor) -> Tensor:  # noqa: ANN401
        """One token (B,) further: logits float32 (B, V); the cache grows by it.

        Args:
            tokens: Int64 (B,).
            cache: A reusable cache that is not empty.
            starts: Int64 (B,), the first token of each row that is no padding.
            scales: As `scales` gives them.
        """
        import torch

        rows, struct = len(tokens), self.struct
        length = int(cache.get_seq_length())
        layers = growing_layers(cache)
        buffers = [layer.reserve(length + 1) for layer in layers]
        caches = (Cache * len(layers))(
            *(
                Cache(keys.data_ptr(), values.data_ptr(), keys.stride(0), keys.stride(1))
                for keys, values in buffers
            )
        )
        positions = (length - starts).float()[:, None, None]  # (B, 1, 1)
        angles = (positions * scales) * self.rotary.inv_freq()
        angles = angles.expand(-1, rows, struct.num_kv_heads, -1)
        gain = getattr(self.rotary.model.get_decoder().rotary_emb, "attention_scaling", 1.0)
        cos, sin = (angles.cos() * gain).contiguous(), (angles.sin() * gain).contiguous()
        hidden_states = self._embed(tokens)
        logits = torch.empty(rows, struct.head.rows, dtype=torch.float32)
        call = Call(
            rows=rows,
            threads=torch.get_num_threads(),
            length=length,
            starts=starts.data_ptr(),
            cache=caches,
            cos=cos.data_ptr(),
            sin=sin.data_ptr(),
            layer_stride=cos.stride(0) if len(cos) > 1 else 0,
            hidden_states=hidden_states.data_ptr(),
            logits=logits.data_ptr(),
        )
        if library().step(byref(struct), byref(call)):
            raise MemoryError(f"no memory for one token after {length} in {rows} rows")
        for layer in layers:
            layer.set_length(length + 1)
        return logits

    def _embed(self, tokens: Tensor) -> Tensor:
        embedded: Tensor = self.rotary.model.get_input_embeddings()(tokens)
        return embedded.float().contiguous()

    def _fill(self, model: Any) -> None:  # noqa: ANN401
        decoder, config, rotary = model.get_decoder(), model.config, self.rotary
        self._modules = list(model.modules())
        self._names = {id(parameter): name for name, parameter in model.named_parameters()}
        layers = [self._layer(layer) for layer in decoder.layers]
        self.struct = Model(
            layers=len(layers),
            hidden=config.hidden_size,
            num_heads=rotary.num_heads,
            num_kv_heads=rotary.num_kv_heads,
            head_dim=rotary.head_dim,
            intermediate=config.intermediate_size,
            cache_dtype=_dtype(model.dtype),
            epsilon=config.rms_norm_eps,
            scale=float(decoder.layers[0].self_attn.scaling),
            layer=self._keep((Layer * len(layers))(*layers)),
            norm=self._vector(decoder.norm.weight),
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
            before_attention=self._vector(layer.input_layernorm.weight),
            before_mlp=self._vector(layer.post_attention_layernorm.weight),
        )

    def _matrix(self, linear: nn.Linear) -> Matrix:
        rows, columns = linear.weight.shape
        bias = None if linear.bias is None else self._vector(linear.bias)
        self.matrices += 1
        quantized = self._quantized(linear)
        if quantized is not None:
            self.quantized += 1
            words, scales = map(self._keep, interleave(quantized))
            dtype = {4: Q4, 8: Q8}[quantized.bits]
            return Matrix(dtype, rows, columns, words.data_ptr(), scales.data_ptr(), bias)
        weight = self._keep(_bf16_if_exact(linear.weight.detach()).contiguous())
        return Matrix(_dtype(weight.dtype), rows, columns, weight.data_ptr(), None, bias)

    def _quantized(self, linear: nn.Linear) -> Quantized | None:
        """A matrix by its codes, where every 64th row of the model's weights agrees with them."""
        import torch

        weight = linear.weight.detach()
        if self.folder is None or weight.dtype != torch.bfloat16 or len(weight) % _LANES:
            return None
        quantized = quantization.load(self.folder, self._names[id(linear.weight)])
        if quantized is None:
            return None
        sample = quantized[::64].dequantize().bfloat16()
        return quantized if torch.equal(sample, weight[::64]) else None

    def _vector(self, tensor: Tensor) -> int:
        """Its address as float32."""
        return int(self._keep(tensor.detach().float().contiguous()).data_ptr())

    def _keep(self, value: Any) -> Any:  # noqa: ANN401
        self.buffers.append(value)
        return value

    def _self_test(self, model: Any) -> None:  # noqa: ANN401
        """Two rows, one of them padded, against the model's own logits."""
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
            expected = theirs.logits[:, -1].float()
            scales = self.scales(cache, 2)
            if scales is None:
                raise Unavailable("another method has changed it")
            logits = self.step(ids[:, -1], cache, torch.tensor([0, 3]), scales)
        off = float((logits - expected).norm() / expected.norm())
        if not off <= _TOLERANCE[str(model.dtype).removeprefix("torch.")]:
            raise Unavailable(f"its compiled code is off by {off:.2g} here")


def _check(model: Any) -> RotaryModel:  # noqa: ANN401
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
    if config.hidden_act != "silu" or not _has_known_layers(model, rotary):
        raise Unavailable("its layers have other parts than known ones")
    library()
    return rotary


def _has_known_layers(model: Any, rotary: RotaryModel) -> bool:  # noqa: ANN401
    """Whether its layers are alike, see all tokens, rotate whole heads, and hold plain matrices."""
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
        2 * len(rotary.inv_freq()) == rotary.head_dim
        and "longrope" not in rotary.rotary.rope_types.values()
    )
    odd = rotary.head_dim % _LANES or rotary.head_dim > _MAX_HEAD_DIM
    return plain and whole and not windows and not odd


def _dtype(dtype: Any) -> int:  # noqa: ANN401 - a torch.dtype
    import torch

    return BF16 if dtype == torch.bfloat16 else F32


def _bf16_if_exact(weight: Tensor) -> Tensor:
    """The same numbers as bfloat16 where that holds them all: half as much to read."""
    import torch

    half = weight.bfloat16()
    return half if torch.equal(half.to(weight.dtype), weight) else weight


def interleave(matrix: Quantized) -> tuple[Tensor, Tensor]:
    """A quantized matrix as `c/matrices.h` reads it, rows interleaved by sixteen.

    Returns:
        Int32 words (rows / 16, columns * bits / 32, 16), each with a row's next codes from the
        lowest bit up, and float32 (rows / 16, columns / 32, 2, 16), what 1 + code / 2^bits is
        multiplied by and what is added.
    """
    import torch

    blocks = len(matrix.codes) // _LANES
    words = matrix.codes.contiguous().view(torch.int32).view(blocks, _LANES, -1)
    step, offset = matrix.scales.unbind(2)
    factor = step * 2**matrix.bits
    scales = torch.stack((factor, offset - factor), dim=2).view(blocks, _LANES, -1, 2)
    return words.transpose(1, 2).contiguous(), scales.permute(0, 2, 3, 1).contiguous()
