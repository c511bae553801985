"""The recording of a transcript is beside it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.chat.viewer.recording import recording


@pytest.mark.parametrize(
    ("transcript", "sound", "kind"),
    [
        ("call.vtt", "call.mp3", "audio"),
        ("call.en.vtt", "call.MP4", "video"),
        ("call.m4a.json", "call.m4a", "audio"),
        ("call.vtt", "other.mp3", None),
        ("call.vtt", "call.exe", None),
    ],
)
def test_a_recording_has_the_name(
    tmp_path: Path, transcript: str, sound: str, kind: str | None
) -> None:
    (tmp_path / sound).write_bytes(b"x")
    found = recording(tmp_path / transcript)
    assert (found.kind if found else None) == kind


def test_a_link_to_elsewhere_is_no_recording(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.mp3").write_bytes(b"x")
    (tmp_path / "in" / "call.mp3").symlink_to(tmp_path / "secret.mp3")
    assert recording(tmp_path / "in" / "call.vtt") is None
