"""Links between the pages lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
)
def test_links_between_pages_lead_somewhere(page: str | Path) -> None:
    file = ROOT / page
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists(), f"{file.name} links to {target}"
