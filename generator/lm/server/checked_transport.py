"""HTTP to the very addresses that were checked, whatever the name resolves to a moment later."""

from __future__ import annotations

import httpx2

from generator.lm.server.server_address import server_addresses


class CheckedTransport(httpx2.HTTPTransport):
    """Resolves the name of a server once for each request, checks it, and connects to that.

    The name stays in the request's headers, and the certificate has to be the name's.
    """

    def __init__(self, url: str, *, has_key: bool) -> None:
        super().__init__()
        self._url, self._has_key = url, has_key

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first of the checked addresses that lets itself be connected to.

        Raises:
            InvalidRequest: The name stands for addresses that are not allowed.
        """
        name = request.url.host
        *others, last = server_addresses(self._url, has_key=self._has_key)
        for address in others:
            try:
                return super().handle_request(_to(request, address, name))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return super().handle_request(_to(request, last, name))


def _to(request: httpx2.Request, address: str, name: str) -> httpx2.Request:
    """A request to one address of its server; over TLS the certificate is that of the name."""
    extensions = {**request.extensions, "sni_hostname": name}
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions=extensions,
    )
