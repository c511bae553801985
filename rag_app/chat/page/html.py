"""HTML of the page, rendered from templates that escape every value.

Document text, file names and questions enter HTML only here, so that nothing in them can become
markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from indexing.files import SUPPORTED
from rag_app.chat.page.quote_context import cited, passage, where
from rag_app.chat.page.segments import paragraphs

if TYPE_CHECKING:
    from generator.answer import Answer
    from generator.lm.calibration_record import CalibrationRecord
    from indexing.documents import Hit, PassageHit
    from indexing.store.store import DocumentEntry
    from rag_app.chat.conversation import Chat, Exchange
    from rag_app.chat.ingest_queue import Arrival
    from rag_app.corpus.corpus import Corpus
    from rag_app.evaluation.needle import NeedleReport
    from rag_app.evaluation.positions import PositionReport

SHOWN = 2000  # documents in the list; the filter of the search tab finds the others


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("rag_app.chat.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["count"] = "{:,}".format
    made.filters["seconds"] = lambda value: f"{value:.2f} s" if value < 10 else f"{value:.0f} s"
    made.filters["day"] = _day
    made.filters["file"] = lambda path: path.rsplit("/", 1)[-1]
    made.globals.update(paragraphs=paragraphs, where=where, read=_read)
    return made


def _render(name: str, **values: object) -> str:
    return _templates().get_template(name).render(values)


def conversation(chat: Chat, *, begun: bool = False) -> str:
    """The exchanges that are over, oldest first; an invitation where nothing has begun."""
    return _render("conversation.html", exchanges=chat.exchanges, begun=begun)


def live(exchange: Exchange, number: int) -> str:
    """The exchange that is being answered."""
    return _render("live.html", exchange=exchange, number=number)


def sources(corpus: Corpus, chat: Chat) -> str:
    """The quotes of every answer, in their surroundings."""
    answered = [
        (number, exchange.answer, [cited(corpus, each) for each in exchange.answer.citations])
        for number, exchange in enumerate(chat.exchanges)
        if exchange.answer is not None
    ]
    return _render("sources.html", answered=answered)


def chats(all_: Sequence[Chat], open_: str) -> str:
    """The list of conversations."""
    return _render("chats.html", chats=all_, open=open_)


def documents(entries: Sequence[DocumentEntry], chosen: Sequence[str]) -> str:
    """The list of documents, with those that are to be asked."""
    latest = list(reversed(entries))
    return _render(
        "documents.html",
        entries=latest[:SHOWN],
        total=len(entries),
        words=sum(entry.words for entry in entries),
        chosen=frozenset(chosen),
    )


def arrivals(all_: Sequence[Arrival]) -> str:
    """Files on their way into the corpus."""
    return _render("arrivals.html", arrivals=all_)


def dropzone(max_bytes: int) -> str:
    """Where files are dropped."""
    return _render("dropzone.html", kinds=SUPPORTED, limit=f"{max_bytes / (1 << 20):,.0f} MB")


def hits(corpus: Corpus, found: Sequence[Hit]) -> str:
    """Documents for a query, best first, each with its best passages."""
    shown = [(hit, [_surrounded(corpus, hit, each) for each in hit.passages]) for hit in found]
    return _render("hits.html", hits=shown)


def _surrounded(corpus: Corpus, hit: Hit, found: PassageHit) -> object:
    return passage(corpus.document(hit.document), found.start, found.end)


def needles(report: NeedleReport) -> str:
    """A needle report: a grid for each method, the recommended one first."""
    best = report.recommended
    others = [each for each in report.results if each is not best]
    return _render("needles.html", report=report, best=best, found=[best, *others])


def places(report: PositionReport, verdict: CalibrationRecord | None) -> str:
    """Accuracy by the place of the evidence: a picture for each length, a line for each method."""
    curves = sorted(report.curves, key=lambda curve: curve.length)
    panels = [(length, list(of)) for length, of in groupby(curves, key=lambda each: each.length)]
    return _render("places.html", report=report, panels=panels, verdict=verdict)


def notice(text: str, *, kind: str = "info") -> str:
    """A line that tells a person something: "info" or "error"."""
    return _render("notice.html", text=text, kind=kind)


def _read(answer: Answer) -> tuple[int, int]:
    """Tokens shown, and tokens of all documents that were looked at."""
    read = [entry for entry in answer.context if entry.document]
    return sum(entry.kept for entry in read), sum(entry.tokens for entry in read)


def _day(moment: str) -> str:
    """A day as people say it."""
    then = datetime.fromisoformat(moment)
    days = (datetime.now(UTC).date() - then.date()).days
    near = {0: "today", 1: "yesterday"}
    return near.get(days, f"{then.day} {then:%b %Y}")


def intro(of: str) -> str:
    """What a measurement does: of "needles" or of "places"."""
    return _render(f"intro_{of}.html")
