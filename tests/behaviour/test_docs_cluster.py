"""The example of a cluster that grows is one that Ray's launcher takes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "ray-cluster.yaml"


def test_the_example_is_valid_by_the_launcher_itself() -> None:
    yaml: Any = import_module("yaml")
    launcher: Any = import_module("ray.autoscaler._private.util")
    example = yaml.safe_load(EXAMPLE.read_text("utf-8"))
    whole = launcher.prepare_config(example)
    launcher.validate_config(whole)
    kinds = whole["available_node_types"]
    assert {name: kind["resources"] for name, kind in kinds.items()} == {
        "head": {"CPU": 0},
        "cpu": {"CPU": 16},
        "gpu": {"CPU": 8, "GPU": 1},
    }
    assert whole["max_workers"] == 8 and kinds["gpu"]["min_workers"] == 0
    for starting in (whole["head_start_ray_commands"], whole["worker_start_ray_commands"]):
        assert all("--disable-usage-stats" in one for one in starting if "ray start" in one)
