"""ELAN's annotations: slots without times, tiers that depend on others, a date of its own."""

from __future__ import annotations

from pathlib import Path

from indexing.documents import Document, Occasion
from indexing.walk import Failure
from tests.indexing.loaders.test_loaders import eaf
from tests.reading import read

PARTLY = """<?xml version="1.0" encoding="UTF-8"?>
<ANNOTATION_DOCUMENT DATE="2026-03-20T15:09:43+01:00"><TIME_ORDER>
<TIME_SLOT TIME_SLOT_ID="ts1" TIME_VALUE="1500"/><TIME_SLOT TIME_SLOT_ID="ts2"/>
<TIME_SLOT TIME_SLOT_ID="ts3"/><TIME_SLOT TIME_SLOT_ID="ts4" TIME_VALUE="x"/></TIME_ORDER>
<TIER TIER_ID="K-Spch"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1" TIME_SLOT_REF1="ts1"
TIME_SLOT_REF2="ts2"><ANNOTATION_VALUE>so you go
  out</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a2" TIME_SLOT_REF1="ts2" TIME_SLOT_REF2="none">
<ANNOTATION_VALUE>and then</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a3"/></ANNOTATION></TIER>
<TIER TIER_ID="W-Spch"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a4" TIME_SLOT_REF1="ts4"
TIME_SLOT_REF2="ts3"><ANNOTATION_VALUE>&lt;yes&gt; &amp; no</ANNOTATION_VALUE>
</ALIGNABLE_ANNOTATION></ANNOTATION></TIER>
<TIER TIER_ID="K-Glosses" PARENT_REF="K-Spch"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID="a5"
ANNOTATION_REF="a1"><ANNOTATION_VALUE>gloss</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>
</ANNOTATION_DOCUMENT>"""


def test_what_is_missing_or_depends(tmp_path: Path) -> None:
    path = tmp_path / "talk.eaf"
    path.write_text(PARTLY, encoding="utf-8")
    document, unread = read(path)
    assert isinstance(document, Document) and isinstance(unread, Failure)
    assert [(one.speaker, one.time) for one in document.utterances] == [
        ("W-Spch", 0.0),
        ("K-Spch", 1.5),
    ]
    assert document.text == "W-Spch: <yes> & no\nK-Spch: so you go out and then"
    assert unread.beside_text and "depend on others (1)" in unread.reason


def test_the_name_of_the_file_goes_before_the_day_of_the_annotation(tmp_path: Path) -> None:
    eaf(tmp_path / "talk.eaf")
    eaf(tmp_path / "talk 2026-03-14.eaf")
    dates = [one.occasion for name in ("talk", "talk 2026-03-14")
             for one in read(tmp_path / f"{name}.eaf") if isinstance(one, Document)]  # fmt: skip
    assert dates == [
        Occasion("2026-03-20", "date of the annotation in ELAN"),
        Occasion("2026-03-14", "file name"),
    ]
