"""The layers of a BERT in bfloat16, in compiled code where the CPU has AMX.

Between the products of its weights a layer spends more time than in them: scores, GELU and norms
are written and read again, each by an operation of its own. `indexing/kernels/c/bert.c` takes some
256 tokens through a whole layer in a core's caches. Sums are in float32 as in PyTorch, and less is
rounded in between. A text's states do not depend on the rest of its batch, to the last bit.

Whatever it does not know, it leaves to the model: other architectures and dtypes, masks that are
not of keys, hooks, gradients, machines without AMX or a C compiler, and code that fails its
self-test.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ctypes import POINTER, Structure, byref, c_float, c_int32, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexing.kernels.library import Unavailable, compiled, shares_thread_pool
from indexing.nn.hooks import override_attribute

if TYPE_CHECKING:
    from torch import Tensor, nn

SOURCE = Path(__file__).parents[1] / "kernels" / "c" / "bert.c"

_BLOCK = 32  # what widths must be multiples of
_WIDEST = 4096  # as in `c/bert.c`
_MOST = 1 << 30  # bytes of weights: they are held twice
_NEVER = -1e30  # added to the scores of padding; finite, for there are differences of scores
_OF_DECODERS = ("encoder_hidden_states", "encoder_attention_mask", "past_key_values")
_TOLERANCE = 0.03  # of the largest value of the self-test: roundings to bfloat16


class Linear(Structure):
    """As in `c/bert.h`."""

    _fields_ = (
        *(("outputs", c_int32), ("inputs", c_int32)),
        *(("weights", c_void_p), ("bias", c_void_p)),
    )


class Norm(Structure):
    """As in `c/bert.h`."""

    _fields_ = (("weight", c_void_p), ("bias", c_void_p))


class Layer(Structure):
    """As in `c/bert.h`."""

    _fields_ = (
        *((name, Linear) for name in ("query_key_value", "output", "up", "down")),
        *((name, Norm) for name in ("after_attention", "after_mlp")),
    )


class Sizes(Structure):
    """As in `c/bert.h`."""

    _fields_ = (
        *((name, c_int32) for name in ("hidden", "num_heads", "intermediate")),
        ("epsilon", c_float),
    )


@contextmanager
def compiled_bert(model: nn.Module) -> Iterator[int]:
    """Runs the layers of every BERT in a model by compiled code while the `with` lasts.

    Args:
        model: Any. Its weights are read now: changes inside the `with` are not seen.

    Yields:
        How many layers; 0 where there is nothing for it, or no such code.
    """
    with ExitStack() as stack:
        yield sum(_compile(stack, encoder) for encoder in _encoders(model))


def _encoders(model: nn.Module) -> list[Any]:
    """The stacks of layers that the code computes."""
    import torch

    if not hasattr(torch.cpu, "get_capabilities"):  # an older torch
        return []
    if not torch.cpu.get_capabilities().get("amx_bf16"):
        return []
    from transformers.models.bert.modeling_bert import BertEncoder

    return [each for each in model.modules() if type(each) is BertEncoder and _is_known(each)]


def _is_known(encoder: Any) -> bool:  # noqa: ANN401
    import torch
    from torch import nn
    from transformers.activations import GELUActivation
    from transformers.models.bert.modeling_bert import BertLayer, BertSelfAttention

    config, parameters = encoder.config, list(encoder.parameters())
    head_dim = config.hidden_size // config.num_attention_heads
    widths = (config.hidden_size, config.intermediate_size, head_dim)

    def exact(function: Any) -> bool:  # noqa: ANN401
        plain = isinstance(function, nn.GELU) and function.approximate == "none"
        return isinstance(function, GELUActivation) or plain

    return (
        all(
            type(layer) is BertLayer
            and type(layer.attention.self) is BertSelfAttention
            and not (layer.is_decoder or layer.add_cross_attention)
            and exact(layer.intermediate.intermediate_act_fn)
            for layer in encoder.layer
        )
        and config.hidden_size <= _WIDEST
        and not any(width % _BLOCK for width in widths)
        and all(each.dtype == torch.bfloat16 and each.device.type == "cpu" for each in parameters)
        and sum(each.nbytes for each in parameters) <= _MOST
    )


def _compile(stack: ExitStack, encoder: Any) -> int:  # noqa: ANN401
    """Sets `forward` until the stack is closed, if the code gives the layers' values."""
    try:
        layers = CompiledLayers(encoder, _library())
    except Unavailable:
        return 0
    if not layers.are_right():
        return 0
    stack.enter_context(override_attribute(encoder, "forward", layers))
    return len(encoder.layer)


@cache
def _library() -> Any:  # noqa: ANN401 - functions by name
    """The code.

    Raises:
        Unavailable: There is none for this machine.
    """
    code: Any = compiled(SOURCE)
    if code.prepare():
        raise Unavailable("this processor or its system has no AMX")
    code.pack_weights.argtypes = [c_void_p, c_int32, c_int32, c_void_p]
    code.pack_weights.restype = None
    code.encode.argtypes = [
        *(POINTER(Sizes), POINTER(Layer), c_int32),
        *(c_void_p, c_int64, c_int32, c_void_p, c_int32),
    ]
    return code


@cache
def _has_threads() -> bool:
    return shares_thread_pool(_library())


class CompiledLayers:
    """Stands in for `BertEncoder.forward`."""

    def __init__(self, encoder: Any, code: Any) -> None:  # noqa: ANN401
        config = encoder.config
        self.encoder = encoder
        self.plain = encoder.forward
        self.code = code
        self.sizes = Sizes(
            config.hidden_size,
            config.num_attention_heads,
            config.intermediate_size,
            config.layer_norm_eps,
        )
        self._buffers: list[Tensor] = []  # what pointers point to
        self.layers = (Layer * len(encoder.layer))(*map(self._layer, encoder.layer))

    def __call__(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor | None = None,
        *others: object,
        **options: object,
    ) -> Any:  # noqa: ANN401
        """The states after the last layer, as the model itself returns them."""
        from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions

        more = (*others, *(options.get(name) for name in _OF_DECODERS))
        known = all(each is None for each in more) and not self._is_changed()
        bias = _key_bias(hidden_states, attention_mask) if known else None
        if bias is None:
            return self.plain(hidden_states, attention_mask, *others, **options)
        states = self.run(hidden_states, bias)
        return BaseModelOutputWithPastAndCrossAttentions(last_hidden_state=states)

    def run(self, states: Tensor, bias: Tensor, layers: slice = slice(None)) -> Tensor:
        """States (texts, tokens, hidden) after some layers.

        Args:
            states: bfloat16; they stay as they are.
            bias: Float32 (texts, tokens rounded up to 32), added to the scores of each key.
            layers: Which.

        Raises:
            MemoryError: There is no room for the states of 256 tokens.
        """
        import torch

        some = (Layer * len(self.layers[layers]))(*self.layers[layers])
        result = states.clone(memory_format=torch.contiguous_format)
        threads = torch.get_num_threads() if _has_threads() else 1
        texts, tokens, _ = states.shape
        if texts and self.code.encode(
            *(byref(self.sizes), some, len(some), result.data_ptr()),
            *(texts, tokens, bias.data_ptr(), min(threads, texts)),
        ):
            raise MemoryError("no memory for the states of an encoder")
        return result

    def are_right(self) -> bool:
        """Whether every layer is as near to itself in float32 as bfloat16 can be."""
        import torch

        generator = torch.Generator().manual_seed(0)
        probe = torch.randn(2, 41, self.sizes.hidden, generator=generator).bfloat16()
        real = torch.ones(2, 1, 41, 41, dtype=torch.bool)
        real[1, :, :, 19:] = False
        bias = _key_bias(probe, real)
        assert bias is not None
        with torch.inference_mode():
            for number, layer in enumerate(self.encoder.layer):
                exact = copy.deepcopy(layer).float()(probe.float(), real)
                error = self.run(probe, bias, slice(number, number + 1)).float() - exact
                if not error.abs().max() <= _TOLERANCE * exact.abs().max():
                    return False
        return True

    def _is_changed(self) -> bool:
        """Whether anything is to be seen or changed on the way, or learnt."""
        import torch

        return (
            torch.is_grad_enabled()
            or self.encoder.training
            or any(
                part._forward_hooks or part._forward_pre_hooks for part in self.encoder.modules()
            )
        )

    def _layer(self, layer: Any) -> Layer:  # noqa: ANN401
        attention = layer.attention.self
        return Layer(
            self._linear(attention.query, attention.key, attention.value),
            self._linear(layer.attention.output.dense),
            self._linear(layer.intermediate.dense),
            self._linear(layer.output.dense),
            self._norm(layer.attention.output.LayerNorm),
            self._norm(layer.output.LayerNorm),
        )

    def _linear(self, *parts: nn.Linear) -> Linear:
        """Layers of the same inputs as one."""
        import torch

        weights = torch.cat([part.weight.detach() for part in parts])
        packed = torch.empty_like(weights)
        self.code.pack_weights(weights.data_ptr(), *weights.shape, packed.data_ptr())
        bias = self._kept(torch.cat([part.bias.detach() for part in parts]).float())
        return Linear(*weights.shape, self._kept(packed), bias)

    def _norm(self, norm: nn.LayerNorm) -> Norm:
        return Norm(*(self._kept(each.detach().float()) for each in (norm.weight, norm.bias)))

    def _kept(self, tensor: Tensor) -> int:
        self._buffers.append(tensor)
        return tensor.data_ptr()


def _key_bias(states: Tensor, mask: Tensor | None) -> Tensor | None:
    """What to add to the scores of each key, float32 (texts, tokens rounded up to 32).

    Args:
        states: (texts, tokens, hidden).
        mask: As the model makes them: bool (texts, 1, tokens or 1, tokens), or none.

    Returns:
        None where the code cannot do what the mask says, or not with such states.
    """
    import torch

    texts, tokens, _ = states.shape
    if states.dtype != torch.bfloat16 or states.device.type != "cpu":
        return None
    bias = torch.full((texts, -(-tokens // _BLOCK) * _BLOCK), _NEVER)
    if mask is None:
        bias[:, :tokens] = 0
        return bias
    if mask.dtype != torch.bool or mask.dim() != 4 or mask.shape[::3] != (texts, tokens):
        return None
    if mask.shape[1] != 1 or not bool((mask == mask[:, :, :1]).all()):
        return None
    bias[:, :tokens].masked_fill_(mask[:, 0, 0], 0)
    return bias
