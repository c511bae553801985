"""Extras are taken apart, installed for real from wheels of our own, and weighed."""

from __future__ import annotations

import shutil
from pathlib import Path
from zipfile import ZipFile

import click
import pytest

from benchmarks import extras

PROJECT = {
    "dependencies": ["tiny-base"],
    "optional-dependencies": {
        "one": ["tiny-one"],
        "two": ["rag-app[one]", "tiny-two>=1"],
        "all": ["rag-app[one,two]", "tiny-two>=1"],
        "lost": ["tiny-lost"],
    },
}


def wheel(folder: Path, name: str, size: int) -> None:
    """A package that is so many bytes of data."""
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-1.0.dist-info"
    with ZipFile(folder / f"{module}-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{module}/data.bin", bytes(size))
        archive.writestr(f"{module}/__init__.py", "")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{info}/RECORD", "")


def test_extras_of_extras() -> None:
    assert extras.requirements(PROJECT, "all") == ["tiny-one", "tiny-two>=1"]
    assert extras.requirements(PROJECT, "two") == ["tiny-one", "tiny-two>=1"]
    assert extras.requirements(PROJECT, extras.BASE) == ["tiny-base"]


@pytest.mark.slow  # environments are made: eight seconds
def test_each_is_installed_beside_what_all_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("tiny-base", 5), ("tiny-one", 2), ("tiny-two", 3)):
        wheel(tmp_path, name, size * 1_000_000)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    base, one, two = extras.measure(PROJECT, ["one", "two"], ["pip"], tmp_path)
    assert [base.extra, one.extra, two.extra] == [extras.BASE, "one", "two"]
    assert [round(each.megabytes) for each in (base, one, two)] == [5, 2, 5]
    assert min(each.seconds["pip"] for each in (base, one, two)) > 0
    shown = extras.text([base, one, two]).splitlines()
    assert shown[0].split() == ["|", "extra", "|", "MB", "|", "pip,", "s", "|"] and len(shown) == 5
    shutil.rmtree(tmp_path / "pip")
    with pytest.raises(click.ClickException, match="tiny-lost"):
        list(extras.measure({**PROJECT, "dependencies": ["tiny-lost"]}, [], ["pip"], tmp_path))
