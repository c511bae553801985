"""The shape of the house: no import circle, no crowded room, and a first line at every door."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

PACKAGES = ("rag_app", "indexing", "retriever", "generator")
ROOT = Path(__file__).parents[2]
FOLDERS = sorted(file.parent for name in PACKAGES for file in (ROOT / name).rglob("__init__.py"))
CROWDED = 16
LONG = 400  # lines of a file


@pytest.mark.parametrize("package", PACKAGES)
def test_no_import_circle(package: str) -> None:
    """Not of two files, not through an import inside a function, not for types only."""
    graph = grimp.build_graph(package, cache_dir=None)  # the cache goes by times of files
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(reversed(error.args[1])))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_rooms_are_small_and_say_what_they_are(folder: Path) -> None:
    """At most 16 files of code; the package's docstring begins with what goes in and comes out."""
    assert len(list(folder.glob("*.py"))) <= CROWDED
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
    assert docstring
    assert docstring.splitlines()[0].endswith((".", ":"))


def test_files_are_short() -> None:
    files = [
        file
        for name in PACKAGES
        for file in (ROOT / name).rglob("*")
        if file.suffix in {".py", ".js", ".css"}
    ]
    long = {
        file.relative_to(ROOT).as_posix()
        for file in files
        if len(file.read_text("utf-8").splitlines()) > LONG
    }
    assert not long


MODULES = {
    file.relative_to(ROOT).with_suffix("").as_posix()
    for name in (*PACKAGES, "benchmarks", "campaign", "tools", "training")
    for file in (ROOT / name).rglob("*.py")
}
TESTS = [
    file.relative_to(ROOT / "tests")
    for file in sorted((ROOT / "tests").rglob("test_*.py"))
    if not {"behaviour", "examples"} & set(file.parts)
]


@pytest.mark.parametrize("test", TESTS, ids=str)
def test_tests_stand_where_what_they_test_stands(test: Path) -> None:
    """A test is named after its module, or after the family that it goes through."""
    name = test.stem.removeprefix("test_")
    module = test.with_name(name).as_posix()
    main = test.with_name(f"__{name}__").as_posix()
    assert module in MODULES or main in MODULES or name == test.parent.name
