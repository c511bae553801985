"""A Ray cluster of a head and three nodes, played by processes of this machine, to be killed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Any

import psutil

LONGEST_IDLE = 3.0  # seconds; what is ahead may all be done, and then nobody runs anything
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


@contextmanager
def machines(nodes: int = 3) -> Iterator[Any]:
    """The cluster, until the end of the block."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        for _ in range(nodes):
            cluster.add_node(**NODE)
        cluster.wait_for_nodes()
        yield cluster
    finally:
        ray.shutdown()
        cluster.shutdown()


def busy_workers(function: str) -> list[psutil.Process]:
    """The processes of this cluster that run a function now."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if process.cmdline()[:1] == [f"ray::{function}"]:
                found.append(process)
    return found


def kill_a_worker(function: str, draw: Random) -> bool:
    """Kill one of the processes that run a function; False where none does for some time."""
    deadline = time.monotonic() + LONGEST_IDLE
    while not (workers := busy_workers(function)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    with suppress(psutil.Error):
        draw.choice(workers).kill()
        return True
    return False
