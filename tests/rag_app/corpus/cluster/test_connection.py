"""Which clusters are spoken to."""

from __future__ import annotations

import pytest

from indexing.errors import InvalidRequest
from rag_app.corpus.cluster.connection import require_private


@pytest.mark.parametrize("address", ["8.8.8.8:6379", "[2001:4860:4860::8888]:6379"])
def test_public_addresses_are_refused(address: str) -> None:
    with pytest.raises(InvalidRequest, match="public address"):
        require_private(address)
    for private in ("10.0.0.1:6379", "127.0.0.1:6379", "head:6379", "[fd00::1]:6379"):
        require_private(private)
