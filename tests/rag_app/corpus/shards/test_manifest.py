"""The manifest comes back as it was written, and documents stay where they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.errors import CorpusDamaged
from rag_app.corpus.shards.manifest import ShardManifest, ShardState, shard_of


def test_it_comes_back_as_it_was_written(tmp_path: Path) -> None:
    assert ShardManifest.read(tmp_path) is None
    manifest = ShardManifest(
        3, "r-1", (ShardState("0", 2, "s", 4, 9),), ("0/g1",), "h:1", 2, "a", 0.5
    )
    manifest.write(tmp_path)
    assert ShardManifest.read(tmp_path) == manifest
    assert manifest.folders == ("0/g2",)
    assert [one.name for one in tmp_path.iterdir()] == ["manifest.json"]
    for text in ("", "[]", '{"format": 2}', '{"format": 1}'):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(CorpusDamaged, match="rag-app cluster init"):
            ShardManifest.read(tmp_path)


def test_a_further_shard_takes_its_share_and_nothing_else_moves() -> None:
    ids = [f"{n:012x}" for n in range(4000)]
    names = [str(n) for n in range(8)]
    for count in range(1, 8):
        before = [shard_of(id_, names[:count]) for id_ in ids]
        after = [shard_of(id_, names[: count + 1]) for id_ in ids]
        moved = [new for old, new in zip(before, after, strict=True) if old != new]
        assert set(moved) == {str(count)}
        assert abs(len(moved) - 4000 / (count + 1)) < 160
