"""The recording beside a transcript: a file of the same name in the same folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# What browsers play, by suffix (HTML's media types, RFC 6381 and IANA's registry).
TYPES = {
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".aac": "audio/aac",
    ".wav": "audio/wav",
    ".ogg": "audio/ogg",
    ".oga": "audio/ogg",
    ".opus": "audio/ogg",
    ".flac": "audio/flac",
    ".weba": "audio/webm",
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/mp4",
    ".webm": "video/webm",
    ".ogv": "video/ogg",
}


@dataclass(frozen=True, slots=True)
class Recording:
    """Sound or film that a browser can play.

    Attributes:
        path: The file.
        type: Its media type.
    """

    path: Path
    type: str

    @property
    def kind(self) -> Literal["audio", "video"]:
        """Which element plays it."""
        return "video" if self.type.startswith("video") else "audio"


def recording(transcript: Path) -> Recording | None:
    """The recording of a transcript: "call.mp3" beside "call.vtt", "call.en.vtt", "call.mp3.vtt".

    A link that leads out of the folder is none.
    """
    stem = transcript.stem
    for name in dict.fromkeys((stem, Path(stem).stem)):
        for suffix, type_ in TYPES.items():
            for spelling in (suffix, suffix.upper()):
                path = transcript.parent / f"{name}{spelling}"
                if _is_inside(path, transcript.parent):
                    return Recording(path, type_)
    return None


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether there is a file of that name, in that folder and nowhere else."""
    try:
        return path.is_file() and path.resolve().parent == folder.resolve()
    except (OSError, ValueError):
        return False
