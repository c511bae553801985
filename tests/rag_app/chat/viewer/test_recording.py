"""The recording of a transcript is beside it, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_app.chat.viewer.recording import flaw, recording, transcripts


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


@pytest.mark.parametrize(
    ("name", "head", "said"),
    [
        ("a.mp3", b"ID3\4" + b"\0" * 8, ""),
        ("a.mp3", b"\xff\xfb\x90\x64" + b"\0" * 8, ""),
        ("a.aac", b"\xff\xf1\x50\x80" + b"\0" * 8, ""),
        ("a.MOV", b"\0\0\0\x14ftypqt  ", ""),
        ("a.m4a", b"\0\0\0\x18ftypM4A ", ""),
        ("a.wav", b"RIFF\0\0\0\0WAVE", ""),
        ("a.ogv", b"OggS" + b"\0" * 8, ""),
        ("a.flac", b"fLaC" + b"\0" * 8, ""),
        ("a.weba", b"\x1aE\xdf\xa3" + b"\0" * 8, ""),
        ("a.wav", b"RIFF\0\0\0\0WEBP", "is not the recording"),
        ("a.mp3", b"<html><scrip", "is not the recording"),
        ("a.aac", b"\xff\xfb\x90\x64" + b"\0" * 8, "rename it to end in .mp3"),
        ("a.mp3", b"\0\0\0\x18ftypM4A ", "rename it to end in .mp4"),
        ("a.mp3", b"I", "is not the recording"),
        ("a.mp3", b"", "is empty"),
    ],
)
def test_the_first_bytes_fit_the_name(name: str, head: bytes, said: str) -> None:
    wrong = flaw(name, head)
    assert said in "; ".join(wrong) if wrong else not said


def test_the_transcripts_of_a_recording_lie_beside_it(tmp_path: Path) -> None:
    paths = [f"{tmp_path}/{name}" for name in ("a.vtt", "a.en.srt", "b.vtt", "in/a.vtt", "a.b.vtt")]
    assert transcripts(tmp_path / "a.mp3", paths) == [paths[0], paths[1], paths[4]]
    for path in paths[:2]:
        Path(path).write_bytes(b"x")
        (tmp_path / "a.mp3").write_bytes(b"x")
        found = recording(Path(path))
        assert found is not None and found.path == tmp_path / "a.mp3"
