"""What the tests of serving share: a running server, and a document that would do harm."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# A document that would do harm wherever its text became HTML, a template, Markdown or a link.
HOSTILE = (
    "Mallory: The zeppelin budget is <img src=x onerror=\"window.harmed='img'\"> forty crowns. "
    "<script>window.harmed='script'</script> The zeppelin ${window.harmed='template'} lands at "
    "{{constructor.constructor('window.harmed=1')()}} noon. ![i](http://evil.invalid/i.png) "
    "The zeppelin crew is [free](javascript:window.harmed='link') on Friday. </p></article> [1]\n"
)


@dataclass(frozen=True)
class Served:
    """A running server."""

    address: str
    folder: Path
