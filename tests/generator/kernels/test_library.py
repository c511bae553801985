"""The library of decode steps: without one the model reads by itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from generator.kernels.library import library
from generator.lm import decode_step as steps
from generator.lm.decode_step import compiled_steps, engine_here
from indexing.kernels import library as compiled
from tests.compilers import compiler_script
from tests.generator.ms_poe_models import build, tokens

posix = pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty cache, where the library will be."""
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    library.cache_clear()
    yield tmp_path / "compiled"
    library.cache_clear()


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (None, "no C compiler was found"),
        (["echo it does not like -march >&2", "exit 1"], "failed: it does not like -march"),
        (["exit 1"], "failed: no reason given"),
        (["exit 0"], "failed: no reason given"),  # and nothing was made
        (['while [ "$1" != -o ]; do shift; done', 'echo x > "$2"'], "cannot be made or used here"),
        (["sleep 9"], "took over 0.2 seconds"),
    ],
)
@posix
def test_without_a_compiler_the_model_reads_by_itself(
    lines: list[str] | None,
    reason: str,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if lines is None:
        monkeypatch.setattr(shutil, "which", lambda _: None)
        assert engine_here() == f"transformers ({reason})"
    else:
        monkeypatch.setenv("CC", compiler_script(tmp_path / "broken", *lines))
    monkeypatch.setattr(compiled, "_TIMEOUT", 0.2 if lines == ["sleep 9"] else 60)
    model: Any = build("llama", hidden_size=64)
    ids, more = tokens(8), tokens(1, seed=1)
    with compiled_steps(model) as held:
        _, cache = steps.forward(model, ids, None)
        found, _ = steps.forward(model, more, cache)
        assert held.engine().startswith("transformers (") and reason in held.engine()
    with torch.inference_mode():
        whole = model(input_ids=torch.cat([ids, more], dim=1)).logits[:, -1:]
    torch.testing.assert_close(found, whole)
