"""What the documentation site has beside docs/: other pages, the API reference, scripts, fonts.

Hooks of MkDocs (`hooks` in mkdocs.yml), called by `make site`.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ROOT / "build" / "site-scripts"
FONTS = ROOT / "rag_app" / "chat" / "page" / "static"
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "benchmarks/README.md": "measuring.md",
    "LICENSE": "LICENSE",
    "NOTICE": "NOTICE",
}
LINK = re.compile(r"(\]\()([^)#:\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds what does not lie in docs/."""
    for name, page in PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        text = LINK.sub(_on_the_site(posixpath.dirname(name), ""), text)
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "reference.md", content="\n".join(_reference())))
    for file in [*SCRIPTS.glob("*.js"), *FONTS.glob("*.woff2"), FONTS / "OFL.txt"]:
        files.append(File.generated(config, f"assets/{file.name}", abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links out of docs/ lead to the pages that were added."""
    folder = posixpath.dirname(page.file.src_uri)
    return LINK.sub(_on_the_site(f"docs/{folder}", folder), markdown)


def _on_the_site(source: str, folder: str) -> Callable[[re.Match[str]], str]:
    """Rewrites links of a page in a folder of the checkout for its folder of the site."""

    def linked(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(source, link[2]))
        page = PAGES.get(path, path.removeprefix("docs/"))
        return link[1] + posixpath.relpath(page, folder or ".")

    return linked


def _reference() -> Iterator[str]:
    """A page of everything that is exported, each with its signature and docstring."""
    yield "# API reference\n\nWhat can be imported, from the docstrings. [By example](python.md).\n"
    for module in ("rag_app", "rag_app.langchain", "indexing.extension"):
        yield f"## {module}\n"
        yield from (f"::: {module}.{name}\n" for name in _exported(module))


def _exported(module: str) -> list[str]:
    tree = ast.parse((ROOT / module.replace(".", "/") / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return [name for name in names if not name.startswith("_")]
    raise SystemExit(f"{module} has no __all__")
