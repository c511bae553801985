"""The ways in which a file is damaged: each changes it, and none makes it longer."""

from __future__ import annotations

import random
from pathlib import Path

from campaign.damage import damage


def test_damage_changes_a_file_in_several_ways(tmp_path: Path) -> None:
    path, whole = tmp_path / "a", bytes(range(1, 256)) * 40
    sizes, changed = set[int](), 0
    for seed in range(40):
        path.write_bytes(whole)
        damage(path, random.Random(seed))
        after = path.read_bytes()
        sizes.add(len(after))
        changed += after != whole
    assert changed >= 38 and len(sizes) > 3 and max(sizes) == len(whole)
