"""Which clusters are spoken to."""

from __future__ import annotations

import subprocess
import sys

import pytest

from indexing.errors import InvalidRequest
from rag_app.corpus.cluster.connection import require_private
from tests.ray_machines import machines


@pytest.mark.parametrize("address", ["8.8.8.8:6379", "[2001:4860:4860::8888]:6379"])
def test_public_addresses_are_refused(address: str) -> None:
    with pytest.raises(InvalidRequest, match="public address"):
        require_private(address)
    for private in ("10.0.0.1:6379", "127.0.0.1:6379", "head:6379", "[fd00::1]:6379"):
        require_private(private)


@pytest.mark.slow
def test_what_sigterm_does_stays_as_it_was() -> None:
    """A batch ends in order at SIGTERM; Ray would have it end at once."""
    program = """
import signal, sys
from rag_app.corpus.cluster.connection import connect
mine = lambda *_: None
signal.signal(signal.SIGTERM, mine)
assert connect(sys.argv[1]).is_initialized()
assert signal.getsignal(signal.SIGTERM) is mine
"""
    with machines(nodes=0) as cluster:
        subprocess.run([sys.executable, "-c", program, cluster.address], check=True)
