"""Every extra that a message or another extra names is declared."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
NAMED = re.compile(r"rag-app\[([a-z, ]+)\]")
WHERE = ["pyproject.toml", "README.md", "docs", "indexing", "retriever", "generator", "rag_app"]


def named_extras() -> dict[str, str]:
    """Name of an extra to the file that names it."""
    files = [
        file
        for place in WHERE
        for file in ([ROOT / place] if (ROOT / place).is_file() else (ROOT / place).rglob("*"))
        if file.suffix in {".py", ".md", ".toml"}
    ]
    return {
        extra.strip(): str(file.relative_to(ROOT))
        for file in files
        for extras in NAMED.findall(file.read_text(encoding="utf-8"))
        for extra in extras.split(",")
    }


def test_every_extra_that_is_named_exists() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    named = named_extras()
    assert "chat" in named
    assert {extra: file for extra, file in named.items() if extra not in declared} == {}
