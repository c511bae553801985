"""ELAN annotations (Max Planck Institute for Psycholinguistics, "ELAN Annotation Format", 3.0).

A tier without a parent is somebody's words; its annotations lie between time slots. Tiers that
depend on another (translations, glosses, parts of speech) say the same again, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexing.documents import Extract, Occasion
from indexing.errors import OtherKind, PartUnread, UnreadableFile
from indexing.loaders.charset import clean, one_line, printable
from indexing.loaders.transcripts.captions import Cue, spoken
from indexing.loaders.xml_file import Element, name_of, root_of
from indexing.message import N_
from indexing.text.days.dates import date_in

_LONGEST = 10**10  # milliseconds; a time beyond is none


def load(path: Path) -> Iterator[Extract | UnreadableFile]:
    """One transcript, of all tiers that depend on no other.

    Raises:
        OtherKind: It is XML of another kind.
        UnreadableFile: It is no XML, or damaged.
    """
    root = root_of(path)
    if name_of(root) != "ANNOTATION_DOCUMENT":
        reason = N_(
            "is XML but no ELAN annotations: it begins with <%(tag)s>", tag=name_of(root)[:60]
        )
        raise OtherKind(path, reason, N_("give it the ending of what it is"))
    slots = {
        str(slot.get("TIME_SLOT_ID")): _seconds(slot.get("TIME_VALUE"))
        for slot in root.iter("TIME_SLOT")
    }
    tiers = list(root.iter("TIER"))
    cues = [cue for tier in tiers if not tier.get("PARENT_REF") for cue in _cues(tier, slots)]
    cues.sort(key=lambda cue: cue.start)
    timed = any(value is not None for value in slots.values())
    transcript = spoken(cues, title=printable(path.stem), timed=timed)
    yield Extract(
        transcript.text,
        transcript.title,
        utterances=transcript.utterances,
        occasion=_occasion(path, root),
    )
    depending = sum(1 for tier in tiers if tier.get("PARENT_REF") and len(tier))
    if depending:
        remedy = N_("export them as text from ELAN and index that, where they matter")
        yield PartUnread(
            path, N_("has tiers that depend on others (%(which)s)", which=depending), remedy
        )


def _cues(tier: Element, slots: dict[str, float | None]) -> Iterator[Cue]:
    """What is said on a tier; a time that is not there is that of the annotation before."""
    name = tier.get("PARTICIPANT") or tier.get("TIER_ID") or ""
    speaker = " ".join(one_line(name).split()) or None
    before = 0.0
    for annotation in tier.iter("ALIGNABLE_ANNOTATION"):
        value = annotation.find("ANNOTATION_VALUE")
        words = "" if value is None else " ".join(clean("".join(value.itertext())).split())
        start = slots.get(str(annotation.get("TIME_SLOT_REF1")))
        end = slots.get(str(annotation.get("TIME_SLOT_REF2")))
        start = before if start is None else start
        before = start if end is None else end
        if words:
            yield Cue(start, before, (words,), speaker)


def _seconds(milliseconds: str | None) -> float | None:
    """A time; None for a slot that is aligned to none."""
    if milliseconds is None or not milliseconds.isdecimal() or len(milliseconds) > 12:
        return None
    value = int(milliseconds)
    return value / 1000 if value < _LONGEST else None


def _occasion(path: Path, root: Element) -> Occasion:
    """The day on which it was annotated, unless the name of the file has one."""
    date = date_in(str(root.get("DATE") or "")[:40])
    if date_in(path.stem) or not date:
        return Occasion()
    return Occasion(date[:10], "date of the annotation in ELAN")
