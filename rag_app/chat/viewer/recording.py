"""The recording beside a transcript: a file of the same name in the same folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from indexing.message import N_

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
HEAD = 12  # bytes at the beginning by which a kind is known
_KINDS = {"mpeg": ".mp3", "aac": ".aac", "wav": ".wav", "ogg": ".ogg", "flac": ".flac"}


@dataclass(frozen=True, slots=True)
class Recording:
    """Sound or film that a browser can play."""

    path: Path
    type: str

    @property
    def kind(self) -> Literal["audio", "video"]:
        """Which element plays it."""
        return "video" if self.type.startswith("video") else "audio"


def recording(transcript: Path) -> Recording | None:
    """The recording that is played beside a transcript; None without any."""
    return next(recordings(transcript), None)


def recordings(transcript: Path) -> Iterator[Recording]:
    """Those of a transcript: "call.mp3" beside "call.vtt", "call.en.vtt", "call.mp3.vtt".

    A link that leads out of the folder is none.
    """
    for name in _names(transcript):
        for suffix, type_ in TYPES.items():
            for spelling in (suffix, suffix.upper()):
                path = transcript.parent / f"{name}{spelling}"
                if _is_inside(path, transcript.parent):
                    yield Recording(path, type_)


def transcripts(recording: Path, paths: Iterable[str]) -> list[str]:
    """Those of some paths whose recording it is by its name."""
    folder = recording.parent.as_posix()
    beside = (path for path in paths if path.rpartition("/")[0] == folder)
    return [path for path in beside if recording.stem in _names(Path(path))]


def is_recording(path: str | Path) -> bool:
    """Whether a file has the suffix of one."""
    return Path(path).suffix.lower() in TYPES


def flaw(name: str, head: bytes) -> tuple[str, str] | None:
    """What is wrong with a recording, and what to do; None where its first bytes fit its suffix.

    There are as many as `HEAD` of them, or all.
    """
    if not head:
        return N_("is empty"), N_("check where it comes from")
    suffix = Path(name).suffix.lower()
    kinds, expected = _kinds(head), TYPES[suffix].partition("/")[2]
    if expected in kinds:
        return None
    if not kinds:
        remedy = N_("save it again as .mp3, .m4a or .mp4")
        return N_("is not the recording that its name says"), remedy
    remedy = N_("rename it to end in %(suffix)s", suffix=_KINDS.get(kinds[0]) or f".{kinds[0]}")
    return N_("holds another kind of recording than %(suffix)s", suffix=suffix), remedy


def _kinds(head: bytes) -> tuple[str, ...]:
    """The kinds of recordings that begin so, as media types call them."""
    if head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"):  # ISO 14496-12
        return ("mp4",)
    if head[:4] in (b"RIFF", b"RIFX", b"RF64") and head[8:12] == b"WAVE":
        return ("wav",)
    for magic, kinds in _MAGIC.items():
        if head.startswith(magic):
            return kinds
    frame = int.from_bytes(head[:2], "big")
    if frame & 0xFFF6 == 0xFFF0:  # ADTS: layer 0
        return ("aac",)
    return ("mpeg",) if frame & 0xFFE0 == 0xFFE0 and frame & 0x0006 else ()


_MAGIC = {
    b"ID3": ("mpeg", "aac", "flac"),  # a tag that others of these may begin with, too
    b"OggS": ("ogg",),
    b"fLaC": ("flac",),
    b"\x1aE\xdf\xa3": ("webm",),
}


def _names(transcript: Path) -> tuple[str, ...]:
    """What its recording may be called, without suffix."""
    return tuple(dict.fromkeys((transcript.stem, Path(transcript.stem).stem)))


def _is_inside(path: Path, folder: Path) -> bool:
    """Whether there is a file of that name, in that folder and nowhere else."""
    try:
        return path.is_file() and path.resolve().parent == folder.resolve()
    except (OSError, ValueError):
        return False


def belongs(path: Path, indexed: Collection[str]) -> bool:
    """Whether a file is that of a document, or the recording that is played beside one."""
    if not is_recording(path):
        return path.as_posix() in indexed
    played = (recording(Path(each)) for each in transcripts(path, indexed))
    return any(each is not None and each.path == path for each in played)
