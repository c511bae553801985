"""SelfExtend's memory grows with n and not with n squared."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from sentence_transformers import SentenceTransformer
from torch.utils._python_dispatch import TorchDispatchMode

from indexing.extension import EntropyScaling, SelfExtend
from indexing.nn import banded_attention
from tests.indexing.extension.extension_models import text


class Largest(TorchDispatchMode):
    """Notes the most elements that any tensor had."""

    elements = 0

    def __torch_dispatch__(
        self, func: Callable[..., Any], types: object, args: Any = (), kwargs: Any = None
    ) -> Any:
        output = func(*args, **(kwargs or {}))
        for tensor in output if isinstance(output, (tuple, list)) else (output,):
            if isinstance(tensor, torch.Tensor):
                self.elements = max(self.elements, tensor.untyped_storage().nbytes() // 4)
        return output


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("family", ["nomic_bert", "modernbert", "llama", "qwen2"])
def test_no_matrix_of_n_by_n(
    models: dict[str, SentenceTransformer],
    family: str,
    fused: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n, budget = 2000, 100_000
    monkeypatch.setattr(banded_attention, "BUDGET", budget)
    if not fused:
        monkeypatch.setattr(banded_attention, "_has_fused", lambda *_: False)
    model, texts = models[family], [text(n - 2), text(300)]
    with SelfExtend(max_length=n)(model), EntropyScaling()(model):
        features = model.preprocess(texts)
        with torch.inference_mode(), Largest() as largest:
            model(features)
    linear = 2 * n * 48 * 4  # the widest linear layer for both texts, with room for copies
    assert largest.elements < max(2 * budget, linear) < n * n / 4


@pytest.mark.slow
@pytest.mark.parametrize("family", ["nomic_bert", "llama"])
def test_32k_tokens_in_2_gib(family: str, tmp_path: Path) -> None:
    script = f"""
import resource, sys
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from pathlib import Path
from tests.indexing.extension.extension_models import CONFIGS, build, text
from indexing.extension import extend
config = CONFIGS[{family!r}]()
config.num_attention_heads = config.num_key_value_heads = 2
config.head_dim = 16
model = build({family!r}, Path({str(tmp_path)!r}), config=config)
extend(model, "self-extend", max_length=32768)
vector = model.encode([text(40000)])
assert abs((vector ** 2).sum() - 1) < 1e-4
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert int(done.stdout.split()[-1]) < 2 * 1024 * 1024
