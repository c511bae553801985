"""The wheel holds the four packages, whole and typed, some samples, and nothing else of ours."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

import rag_app
from rag_app.chat.welcome.samples import FILES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("generator", "indexing", "rag_app", "retriever")


@pytest.fixture(scope="module")
def wheel() -> dict[str, bytes]:
    """Names in the wheel and what they hold, built from the working tree without a network."""
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
        (file,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(file) as archive:
            return {name: archive.read(name) for name in archive.namelist()}


def test_every_module_and_nothing_else_is_in_it(wheel: dict[str, bytes]) -> None:
    modules = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.suffix in {".py", ".html", ".json", ".c", ".h", ".safetensors", ".po"}
    }
    typed = {f"{package}/py.typed" for package in PACKAGES}
    page = {
        path.relative_to(ROOT).as_posix()
        for folder in ("static", "templates")
        for path in (ROOT / "rag_app" / "chat" / "page" / folder).iterdir()
    }
    assert {Path(name).suffix for name in page} == {".css", ".js", ".woff2", ".html", ".txt"}
    samples = {f"rag_app/samples/{name}" for name in FILES}
    assert modules | typed | page | samples == {name for name in wheel if ".dist-info/" not in name}


def test_command_and_licences_are_in_it(wheel: dict[str, bytes]) -> None:
    about = {name.partition(".dist-info/")[2]: data for name, data in wheel.items()}
    assert "rag-app = rag_app.__main__:run" in about["entry_points.txt"].decode()
    for name in ("LICENSE", "NOTICE"):
        assert about[f"licenses/{name}"] == (ROOT / name).read_bytes()


def test_nothing_is_required_from_a_place_of_its_own(wheel: dict[str, bytes]) -> None:
    (metadata,) = (data for name, data in wheel.items() if name.endswith("METADATA"))
    fields = message_from_bytes(metadata)
    assert fields["Requires-Python"] == "<3.14,>=3.11"
    required = fields.get_all("Requires-Dist") or []
    assert required and not [each for each in required if "@" in each]
    extras = fields.get_all("Provides-Extra") or []
    assert {"cpu", "gpu", "offline"} <= set(extras)


def test_its_version_is_that_of_the_package(wheel: dict[str, bytes]) -> None:
    (metadata,) = (data for name, data in wheel.items() if name.endswith("METADATA"))
    assert message_from_bytes(metadata)["Version"] == rag_app.__version__
