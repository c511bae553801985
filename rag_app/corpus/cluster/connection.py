"""A Ray cluster: its address in, the ray module connected to it out."""

from __future__ import annotations

import ipaddress
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR
from typing import Any

from indexing.errors import InvalidRequest, MissingDependency

NAMESPACE = "rag-app"


def connect(address: str) -> Any:  # noqa: ANN401 - Ray has types of its own
    """The ray module, connected to a cluster.

    Raises:
        InvalidRequest: The address is public, or no cluster answers there.
        MissingDependency: Ray is not installed.
    """
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_IGNORE_UNHANDLED_ERRORS"] = "1"  # one shard's error stands for that of all
    with _signals_kept():
        try:
            import ray
        except ImportError as error:
            raise MissingDependency(
                "Ray", "Working on several machines", 'pip install "rag-app[ray]"'
            ) from error
        if not ray.is_initialized():
            require_private(address)
            _join(ray, address)
    return ray


def _join(ray: Any, address: str) -> None:  # noqa: ANN401 - Ray has types of its own
    try:
        ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InvalidRequest(
            f"{address}: no Ray cluster answers there ({error}); start one with: "
            "ray start --head --disable-usage-stats, and join it on this machine with: "
            f"ray start --address {address} --disable-usage-stats"
        ) from error


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Let nobody else decide what SIGTERM does, as Ray does when it is imported."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


def require_share(number: float) -> None:
    """Refuse a number of cores or GPUs that Ray cannot give to a process.

    Raises:
        InvalidRequest: It is negative, or one and a part of another.
    """
    if number < 0 or (number > 1 and number != int(number)):
        raise InvalidRequest(f"{number}: give a part of one, or a whole number")


def require_private(address: str) -> None:
    """Refuse a public address: Ray asks nobody who they are, and runs what it is sent.

    Raises:
        InvalidRequest: It is one.
    """
    host = address.rpartition(":")[0].strip("[]")
    try:
        public = ipaddress.ip_address(host).is_global
    except ValueError:  # a name, which whoever runs the network gives
        public = False
    if public:
        raise InvalidRequest(
            f"{address}: a public address, and whoever reaches Ray's ports can run programs there; "
            "use an address of a private network"
        )
