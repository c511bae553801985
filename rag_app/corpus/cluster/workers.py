"""Workers of a Ray cluster: calls in, results out, however many workers die meanwhile.

Ray places each call on a machine that has room for it, starts the process there, and repeats a call
whose process or machine was lost. The functions that are called read nothing but what they are
sent: they can be repeated, and need no folder of ours on the machines that run them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from indexing.errors import ClusterLost, InvalidRequest, WorkersLost
from rag_app.corpus.cluster.connection import connect, require_share

Result = TypeVar("Result")

REPEATS = 8  # of a call whose worker was lost; one that ends every worker is its own fault
SECONDS = 5.0  # for which a count of workers stays true


@dataclass(frozen=True, slots=True)
class RayWorkers:
    """What each worker of a Ray cluster takes, and so how many there are.

    Raises:
        InvalidRequest: They would take nothing, or a GPU and a part of another.
    """

    address: str  # of the cluster, as HOST:PORT
    cpus: float = 1.0  # cores of each
    gpus: float = 0.0  # GPUs of each; 0.25 lets four workers share one

    def __post_init__(self) -> None:
        if not (self.cpus or self.gpus):
            raise InvalidRequest("a worker needs a core, or a GPU, or a part of one")
        for number in (self.cpus, self.gpus):
            require_share(number)


class WorkerPool:
    """The workers of a cluster."""

    def __init__(self, workers: RayWorkers, notify: Callable[[str], None] | None = None) -> None:
        self.workers = workers
        self._ray = connect(workers.address)
        self._tasks: dict[Callable[..., object], Any] = {}
        self._count, self._counted = 0, -SECONDS
        if not self.count and notify:
            what = f"{workers.gpus:g} GPUs" if workers.gpus else f"{workers.cpus:g} cores"
            notify(
                f"{workers.address}: no machine of the cluster has {what} for a worker; "
                "waiting until one joins"
            )

    @property
    def count(self) -> int:
        """How many workers the machines that are there have room for."""
        now = time.monotonic()
        if now - self._counted >= SECONDS:
            self._count = sum(self._room(node) for node in self._ray.nodes() if node["Alive"])
            self._counted = now
        return self._count

    def call(
        self,
        what: str,
        function: Callable[..., Result],
        *arguments: Any,  # noqa: ANN401 - of the function
    ) -> Callable[[], Result]:
        """Begin a call of a function that every machine can import.

        What is returned waits for its result. It raises what the function raises, and beside that:

        Raises:
            WorkersLost: Every worker that tried has died.
            ClusterLost: The cluster does not answer.
        """
        reference = self._task(function).remote(*arguments)
        return lambda: self._result(what, reference)

    def _task(self, function: Callable[..., object]) -> Any:  # noqa: ANN401 - Ray's own
        """The function as the cluster knows it, which it is told once."""
        if function not in self._tasks:
            self._tasks[function] = self._ray.remote(function).options(
                num_cpus=self.workers.cpus,
                num_gpus=self.workers.gpus,
                max_retries=REPEATS,
                scheduling_strategy="SPREAD",
            )
        return self._tasks[function]

    def _result(self, what: str, reference: Any) -> Any:  # noqa: ANN401 - Ray's own
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:  # what the function raised, with Ray's around it
            raise error.cause from error
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError) as error:
            raise WorkersLost(what, REPEATS + 1) from error
        except errors.RayError as error:
            raise ClusterLost(self.workers.address, type(error).__name__) from error

    def _room(self, node: dict[str, Any]) -> int:
        """How many workers a machine has room for."""
        required = {"CPU": self.workers.cpus, "GPU": self.workers.gpus}
        has = node["Resources"]
        return min(int(has.get(name, 0) / each) for name, each in required.items() if each)


def lasting(name: str) -> str:
    """The name of a model as it is called from any working folder of any machine."""
    path = Path(name)
    return str(path.resolve()) if path.exists() else name
