"""The formulas once more, naively: one sequence, one head at a time, full matrices, float64.

Nothing here comes from the package under test or from the modelling code of transformers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """What is applied: a method with its numbers, and entropy scaling or not."""

    method: str = "none"
    window: int = 32
    s: int = 1
    lam: float = 1.0
    group: int = 1
    near: int = 1
    entropy: bool = False
    always: bool = False  # NTK in the paper's form

    def position(self, i: int, n: int) -> float:
        if n <= self.window:
            return i
        if self.method == "gp":
            return i // self.s
        if self.method == "rp":
            return i % self.window
        if self.method == "pi":
            return i / self.s
        return i

    def factor(self, i: int, n: int, causal: bool) -> float:
        seen = i + 1 if causal else n
        return max(1.0, math.log(seen) / math.log(self.window)) if self.entropy else 1.0


class Oracle:
    """A transformer recomputed from its weights."""

    def __init__(self, backbone: Any) -> None:
        self.w = {k: v.detach().double().numpy() for k, v in backbone.state_dict().items()}
        self.config = backbone.config
        self.kind = backbone.config.model_type
        self.known: dict[tuple[tuple[int, ...], Setting], Array] = {}

    def states(self, ids: list[int], setting: Setting) -> Array:
        """Last hidden states (n, H), computed once."""
        key = (tuple(ids), setting)
        if key not in self.known:
            self.known[key] = self._states(ids, setting)
        return self.known[key]

    def _states(self, ids: list[int], setting: Setting) -> Array:
        if self.kind in ("bert", "roberta", "xlm-roberta", "mpnet", "distilbert"):
            return self._absolute(ids, setting)
        if self.kind == "nomic_bert":
            return self._nomic(ids, setting)
        return (
            self._modern(ids, setting) if self.kind == "modernbert" else self._llama(ids, setting)
        )

    # Parts

    def lin(self, name: str, x: Array) -> Array:
        y = x @ self.w[f"{name}.weight"].T
        return y + self.w[f"{name}.bias"] if f"{name}.bias" in self.w else y

    def norm(self, name: str, x: Array, eps: float) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        y = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * self.w[f"{name}.weight"]
        return y + self.w[f"{name}.bias"] if f"{name}.bias" in self.w else y

    def rms(self, name: str, x: Array) -> Array:
        eps = self.config.rms_norm_eps
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * self.w[f"{name}.weight"]

    def row(self, table: Array, p: float, first: int, window: int) -> Array:
        """Between two rows of the table; the last row has no right neighbour."""
        low = int(p)
        high = min(low + 1, window - 1)
        return (1 - (p - low)) * table[first + low] + (p - low) * table[first + high]

    # Attention of one head

    def plain(self, q: Array, k: Array, v: Array, scale: Array, bias: Array) -> Array:
        scores = (q * scale[:, None]) @ k.T / math.sqrt(q.shape[1]) + bias
        return softmax(scores) @ v

    def rotary(
        self, qkv: tuple[Array, ...], setting: Setting, base: float, sliding: int | None
    ) -> Array:
        q, k, v = qkv
        n, d = q.shape
        causal = self.kind in ("llama", "mistral", "qwen2", "qwen3")
        long = n > setting.window
        scale = np.array([setting.factor(i, n, causal) for i in range(n)])
        own_base = sliding is not None and self.kind == "modernbert"
        if setting.method == "ntk" and (long or setting.always) and not own_base:
            base = base * setting.lam
        at = [float(i) if own_base else setting.position(i, n) for i in range(n)]

        def scored(query_at: Sequence[float], key_at: Sequence[float]) -> Array:
            product: Array = turned(q, query_at, base) @ turned(k, key_at, base).T
            return product / math.sqrt(d)

        scores = scored(at, at)
        if setting.method == "self-extend" and long and sliding is None:
            g, w = setting.group, setting.near
            far = [i // g + w - w // g for i in range(n)]
            grouped = [i // g for i in range(n)]
            left, right = scored(far, grouped), scored(grouped, far)
            distance = np.subtract.outer(np.arange(n), np.arange(n))
            scores = np.where(distance >= w, left, np.where(-distance >= w, right, scores))
        scores = scores * scale[:, None]
        distance = np.subtract.outer(np.arange(n), np.arange(n))
        if causal:
            scores[distance < 0] = -np.inf
        if sliding is not None:
            scores[abs(distance) >= sliding] = -np.inf
        return softmax(scores) @ v

    # Families

    def _absolute(self, ids: list[int], setting: Setting) -> Array:
        n, heads = len(ids), self.config.num_attention_heads
        names = NAMES.get(self.kind, NAMES["bert"])
        first = 0 if self.kind in ("bert", "distilbert") else 2
        table = self.w["embeddings.position_embeddings.weight"]
        x = self.w["embeddings.word_embeddings.weight"][ids]
        if "embeddings.token_type_embeddings.weight" in self.w:
            x = x + self.w["embeddings.token_type_embeddings.weight"][0]
        places = [setting.position(i, n) for i in range(n)]
        x = x + np.stack([self.row(table, p, first, setting.window) for p in places])
        eps = 1e-12 if self.kind == "distilbert" else self.config.layer_norm_eps
        x = self.norm("embeddings.LayerNorm", x, eps)
        scale = np.array([setting.factor(i, n, False) for i in range(n)])
        for number in range(self.config.num_hidden_layers):
            q, k, v, o, norm1, up, down, norm2 = (
                f"{names[0].format(number)}.{part}" for part in names[1:]
            )
            heads_out = []
            for h in range(heads):
                d = x.shape[1] // heads
                cut = slice(h * d, (h + 1) * d)
                one, two, three = (self.lin(name, x)[:, cut] for name in (q, k, v))
                heads_out.append(self.plain(one, two, three, scale, self._bias(n, h)))
            x = self.norm(norm1, x + self.lin(o, np.concatenate(heads_out, 1)), eps)
            x = self.norm(norm2, x + self.lin(down, gelu(self.lin(up, x))), eps)
        return x

    def _bias(self, n: int, head: int) -> Array:
        """MPNet's bias by true distance in 32 buckets; zero elsewhere."""
        bias = np.zeros((n, n))
        if self.kind == "mpnet":
            table = self.w["encoder.relative_attention_bias.weight"]
            along = [table[bucket(distance), head] for distance in range(1 - n, n)]
            for i in range(n):
                bias[i] = [along[i - j + n - 1] for j in range(n)]
        return bias

    def _heads(
        self, qkv: tuple[Array, ...], setting: Setting, base: float, sliding: int | None = None
    ) -> Array:
        q, k, v = qkv
        heads = self.config.num_attention_heads
        shared = getattr(self.config, "num_key_value_heads", heads)
        d, each = q.shape[1] // heads, heads // shared
        out = []
        for h in range(heads):
            qs, ks = slice(h * d, (h + 1) * d), slice(h // each * d, (h // each + 1) * d)
            one = (q[:, qs], k[:, ks], v[:, ks])
            out.append(self.rotary(one, setting, base, sliding))
        return np.concatenate(out, axis=1)

    def _nomic(self, ids: list[int], setting: Setting) -> Array:
        c, eps = self.config, self.config.layer_norm_eps
        x = self.w["embeddings.word_embeddings.weight"][ids]
        x = x + self.w["embeddings.token_type_embeddings.weight"][0]
        x = self.norm("embeddings.LayerNorm", x, eps)
        for number in range(c.num_hidden_layers):
            at = f"layers.{number}"
            q, k, v = (self.lin(f"{at}.self_attn.{p}_proj", x) for p in "qkv")
            theta = c.rope_parameters["rope_theta"]
            mixed = self._heads((q, k, v), setting, theta)
            x = x + self.lin(f"{at}.self_attn.o_proj", mixed)
            x = self.norm(f"{at}.post_attention_layernorm", x, eps)
            gate = silu(self.lin(f"{at}.mlp.gate_proj", x)) * self.lin(f"{at}.mlp.up_proj", x)
            x = self.norm(
                f"{at}.post_mlp_layernorm", x + self.lin(f"{at}.mlp.down_proj", gate), eps
            )
        return x

    def _modern(self, ids: list[int], setting: Setting) -> Array:
        c = self.config
        x = self.norm(
            "embeddings.norm", self.w["embeddings.tok_embeddings.weight"][ids], c.norm_eps
        )
        for number in range(c.num_hidden_layers):
            at, kind = f"layers.{number}", c.layer_types[number]
            h = self.norm(f"{at}.attn_norm", x, c.norm_eps) if number else x
            q, k, v = np.split(self.lin(f"{at}.attn.Wqkv", h), 3, axis=1)
            sliding = c.local_attention // 2 + 1 if kind == "sliding_attention" else None
            theta = c.rope_parameters[kind]["rope_theta"]
            mixed = self._heads((q, k, v), setting, theta, sliding)
            x = x + self.lin(f"{at}.attn.Wo", mixed)
            h = self.norm(f"{at}.mlp_norm", x, c.norm_eps)
            inner, gate = np.split(self.lin(f"{at}.mlp.Wi", h), 2, axis=1)
            x = x + self.lin(f"{at}.mlp.Wo", gelu(inner) * gate)
        return self.norm("final_norm", x, c.norm_eps)

    def _llama(self, ids: list[int], setting: Setting) -> Array:
        c = self.config
        x = self.w["embed_tokens.weight"][ids]
        kinds = getattr(c, "layer_types", None) or ["full_attention"] * c.num_hidden_layers
        for number in range(c.num_hidden_layers):
            at = f"layers.{number}"
            h = self.rms(f"{at}.input_layernorm", x)
            q, k, v = (self.lin(f"{at}.self_attn.{p}_proj", h) for p in "qkv")
            if self.kind == "qwen3":
                q, k = self._normed(at, "q", q, c.head_dim), self._normed(at, "k", k, c.head_dim)
            sliding = c.sliding_window if kinds[number] == "sliding_attention" else None
            theta = c.rope_parameters["rope_theta"]
            mixed = self._heads((q, k, v), setting, theta, sliding)
            x = x + self.lin(f"{at}.self_attn.o_proj", mixed)
            h = self.rms(f"{at}.post_attention_layernorm", x)
            gate = silu(self.lin(f"{at}.mlp.gate_proj", h)) * self.lin(f"{at}.mlp.up_proj", h)
            x = x + self.lin(f"{at}.mlp.down_proj", gate)
        return self.rms("norm", x)

    def _normed(self, at: str, which: str, x: Array, d: int) -> Array:
        split = x.reshape(len(x), -1, d)
        return self.rms(f"{at}.self_attn.{which}_norm", split).reshape(len(x), -1)


NAMES = {
    "bert": (
        "encoder.layer.{}",
        "attention.self.query",
        "attention.self.key",
        "attention.self.value",
        "attention.output.dense",
        "attention.output.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    ),
    "mpnet": (
        "encoder.layer.{}",
        "attention.attn.q",
        "attention.attn.k",
        "attention.attn.v",
        "attention.attn.o",
        "attention.LayerNorm",
        "intermediate.dense",
        "output.dense",
        "output.LayerNorm",
    ),
    "distilbert": (
        "transformer.layer.{}",
        "attention.q_lin",
        "attention.k_lin",
        "attention.v_lin",
        "attention.out_lin",
        "sa_layer_norm",
        "ffn.lin1",
        "ffn.lin2",
        "output_layer_norm",
    ),
}


def turned(x: Array, at: Sequence[float], base: float) -> Array:
    """Dimensions k and k + d/2 as a complex number, times e^(i p base^(-2k/d))."""
    d = x.shape[1]
    z = x[:, : d // 2] + 1j * x[:, d // 2 :]
    angle = np.outer(at, [base ** (-2 * k / d) for k in range(d // 2)])
    z = z * np.exp(1j * angle)
    return np.concatenate([z.real, z.imag], axis=1)


def bucket(distance: int) -> int:
    """T5's bidirectional buckets as MPNet has them: 32, exact to 7, logarithmic to 128."""
    start = 16 if distance < 0 else 0
    far = abs(distance)
    if far < 8:
        return start + far
    return start + min(15, 8 + int(math.log(far / 8) / math.log(128 / 8) * 8))


def softmax(scores: Array) -> Array:
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x: Array) -> Array:
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def silu(x: Array) -> Array:
    return x / (1 + np.exp(-x))
