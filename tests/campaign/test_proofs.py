"""A thousand mutated proofs, the same ones in every run: none is accepted."""

from __future__ import annotations

from pathlib import Path

from campaign.proofs import MUTATIONS, attack


def test_mutated_proofs(tmp_path: Path) -> None:
    result = attack(tmp_path, trials=1000, seed=0)
    assert result.failures == []
    assert result.trials == 1000
    assert {name.removesuffix(": rejected") for name in result.outcomes} == set(MUTATIONS)
