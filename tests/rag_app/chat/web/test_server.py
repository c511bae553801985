"""What the server does not offer."""

from __future__ import annotations

import httpx

from tests.rag_app.chat.served_corpus import Served


def test_nothing_that_changes_the_corpus_has_a_public_name(served: Served) -> None:
    info = httpx.get(f"{served.address}/gradio_api/info").json()
    assert info == {"named_endpoints": {}, "unnamed_endpoints": {}}
    assert httpx.delete(f"{served.address}/files").status_code in {404, 405}
    assert httpx.post(f"{served.address}/gradio_api/upload").status_code == 404


def test_the_page_describes_its_requests_to_nobody(served: Served) -> None:
    for path in ("/openapi.json", "/gradio_api/openapi.json", "/docs", "/redoc"):
        assert httpx.get(f"{served.address}{path}").status_code == 404, path
