"""The tree in the README names every module with a phrase, and no module that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("generator", "indexing", "rag_app", "retriever")
README = (ROOT / "README.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"(?P<indent> *)(?P<name>\S+)(?: {2,}| )(?P<phrase>\S.*)")


def tree() -> dict[str, str]:
    """Paths in the tree of the README, folders with a slash, and the phrase beside each."""
    block = README.split("## Where things are", 1)[1].split("```")[1].removeprefix("text\n")
    entries: dict[str, str] = {}
    folders: list[str] = []
    for line in block.splitlines():
        entry = ENTRY.fullmatch(line)
        assert entry, f"no name and phrase: {line!r}"
        depth, odd = divmod(len(entry["indent"]), 2)
        assert not odd and depth <= len(folders), f"not indented by twos: {line!r}"
        del folders[depth:]
        entries["".join(folders) + entry["name"]] = entry["phrase"]
        if entry["name"].endswith("/"):
            folders.append(entry["name"])
    return entries


def modules() -> set[str]:
    """Every module of the four packages but `__init__.py`, for which its folder stands."""
    return {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.name != "__init__.py"
    }


def test_the_tree_names_every_module_once() -> None:
    named = {path for path in tree() if path.endswith(".py") and path.startswith(PACKAGES)}
    assert named == modules()


@pytest.mark.parametrize("path", tree())
def test_what_the_tree_names_is_there(path: str) -> None:
    assert (ROOT / path).is_dir() if path.endswith("/") else (ROOT / path).is_file()


def test_every_package_folder_is_in_the_tree() -> None:
    folders = {
        f"{path.parent.relative_to(ROOT).as_posix()}/"
        for package in PACKAGES
        for path in (ROOT / package).rglob("__init__.py")
    }
    assert folders <= set(tree())


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
)
def test_links_between_pages_lead_somewhere(page: str | Path) -> None:
    file = ROOT / page
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8")):
        assert (file.parent / target).exists(), f"{file.name} links to {target}"
