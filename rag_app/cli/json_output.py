"""The values that `--json` prints; their names are an interface to other programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from indexing.documents import Hit, PassageHit, clock
from indexing.text.disfluency import without_noise

if TYPE_CHECKING:
    from generator.answer import ContextEntry
    from generator.instances.instances import Instances
    from indexing.documents import Document
    from rag_app.cli.settings import Setting

Json = dict[str, Any]


def hits(ranking: Sequence[Hit], *, explain: bool = False) -> list[Json]:
    """Documents, best first, each with its passages."""
    return [
        {
            "document": hit.document,
            "title": hit.title,
            "path": hit.path,
            "part": hit.part,
            "date": hit.day,
            "score": hit.score,
            **({"parts": hit.parts} if explain else {}),
            "passages": [_passage(passage, explain) for passage in hit.passages],
        }
        for hit in ranking
    ]


def instances(found: Instances) -> Json:
    """Places by document, with how many there probably are."""
    return {
        "question": found.question,
        "about": found.estimate.number,
        "low": found.estimate.low,
        "high": found.estimate.high,
        "unseen": found.estimate.unseen,
        "found": found.found,
        "start": found.start,
        "counted": found.counted,
        "stated": hits(found.as_hits([found.stated])) if found.stated else [],
        "documents": hits(found.hits),
    }


def missing(lines: Sequence[ContextEntry]) -> list[Json]:
    """Lines of the ledger for what a search did not look at, in the form of hits without an id."""
    return hits([Hit(one.document, one.title, "", "", 0.0, ()) for one in lines])


def _passage(passage: PassageHit, explain: bool) -> Json:
    return {
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "shown": shown(passage),
        "utterances": [
            {
                "start": one.text_start,
                "end": one.end,
                "speaker": one.speaker,
                "time": clock(one.time),
            }
            for one in passage.utterances
        ],
        "score": passage.score,
        "speaker": passage.speaker,
        "speakers": list(passage.speakers),
        "time": clock(passage.time),
        "page": passage.page,
        "place": passage.place,
        "figures": list(passage.figures),
        **({"parts": passage.parts} if explain else {}),
    }


def shown(passage: PassageHit) -> str:
    """What people are shown of a passage: of a search for what somebody says, their words."""
    texts = map(passage.words, passage.utterances) if passage.utterances else [passage.text]
    return " … ".join(map(without_noise, texts))


def document(whole: Document) -> Json:
    """A whole document; its utterances with their time stamps."""
    values = asdict(whole)
    values["figures"] = [figure.fields for figure in whole.figures]
    for each in values["utterances"]:
        each["time"] = clock(each["time"])
    return values


def settings(all_: Sequence[Setting]) -> list[Json]:
    """Every setting, and where it comes from."""
    return [{**asdict(each), "value": str(each.value)} for each in all_]
