"""The pages: links lead somewhere, folders and files are those that exist, drawings are whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("generator", "indexing", "rag_app", "retriever")
DOCS = sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md"))
MADE_OF = {"docs/architecture.md", "docs/glossary.md"}  # for who develops
MANUAL = [page for page in DOCS if not page.startswith("docs/notebook/") and page not in MADE_OF]
PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", *DOCS]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BRACKETS = {")": "(", "]": "[", "}": "{"}


def text_of(page: str) -> str:
    """The page without its blocks of code."""
    return FENCE.sub("", (ROOT / page).read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """What a link may name after `#`, as GitHub and the documentation site spell it."""
    headings = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w -]", "", each.lower()).strip().replace(" ", "-") for each in headings}


def unbalanced(drawing: str) -> str:
    """The first bracket without a partner, outside of quotes; empty if there is none."""
    opened: list[str] = []
    for character in re.sub(r'"[^"]*"|-\.?->', "", drawing):
        if character in BRACKETS.values():
            opened.append(character)
        elif character in BRACKETS and (not opened or opened.pop() != BRACKETS[character]):
            return character
    return "".join(opened[:1])


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    file = ROOT / page
    for target, anchor in LINK.findall(text_of(page)):
        linked = file.parent / target if target else file
        assert linked.exists(), f"{page} links to {target}"
        assert not anchor or anchor in anchors(linked), f"{page} links to {target}#{anchor}"


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 6144


def test_the_manual_is_short() -> None:
    assert sum(len((ROOT / page).read_bytes()) for page in MANUAL) <= 119_600


def test_every_folder_of_the_packages_is_in_the_architecture_and_no_other() -> None:
    folders = {
        init.parent.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for init in (ROOT / package).rglob("__init__.py")
    }
    rows = re.findall(r"^\| `([\w/]+)` \|", text_of("docs/architecture.md"), re.MULTILINE)
    named = {row for row in rows if row.split("/")[0] in PACKAGES}
    assert named == folders
    assert [row for row in rows if not (ROOT / row).is_dir()] == []


def test_files_named_in_the_pages_exist() -> None:
    pages = [page for page in PAGES if page not in {"CHANGELOG.md", "docs/cli.md"}]
    files = re.compile(
        rf"`((?:{'|'.join([*PACKAGES, 'benchmarks', 'tests', 'tools', 'data'])})/[\w/.-]+)`"
    )
    named = {
        (page, name)
        for page in pages
        for name in files.findall(text_of(page))
        if "NAME" not in name
    }
    assert len(named) > 20
    assert [each for each in sorted(named) if not (ROOT / each[1]).exists()] == []


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"^ +- ([\w/-]+\.md)$", config, re.MULTILINE))
    elsewhere = {"reference.md", "contributing.md", "changelog.md", "measuring.md"}  # tools/site.py
    assert {page.removeprefix("docs/") for page in DOCS} == named - elsewhere


def test_drawings_are_whole() -> None:
    drawings = MERMAID.findall((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    assert len(drawings) == 3
    for drawing in drawings:
        first, *lines = drawing.splitlines()
        assert re.fullmatch(r"flowchart (TB|LR)", first) and len(lines) > 4
        assert all(line.count('"') % 2 == 0 for line in lines)
        assert unbalanced(drawing) == ""


@pytest.mark.parametrize("drawing", ["a --> b[b", "a(b] --> c", 'a["x)"] --> b{c'])
def test_an_unbalanced_drawing_is_noticed(drawing: str) -> None:
    assert unbalanced(drawing)


def test_the_glossary_is_alphabetical_and_has_one_meaning_a_term() -> None:
    page = text_of("docs/glossary.md")
    terms = [term.lower() for term in re.findall(r"^- \*\*(.+?)\*\*: \S", page, re.MULTILINE)]
    assert len(terms) > 30
    assert terms == sorted(set(terms))
