"""A request such as "Summarize meeting-3": its overview, which is made of quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.evidence import Sentence
from generator.overview.overview import Overview, Quote, overview
from indexing.documents import Document, clock
from indexing.message import N_
from indexing.store.view import StoreView
from rag_app.requests.listing import Line
from rag_app.requests.target import Target, Words, groups_of, pattern
from rag_app.requests.wording import Wording

MOST_DOCUMENTS = 3
"""Documents that one answer sums up; of more, the question is looked up."""

_MOST_SPEAKERS = 6
_MOST_DECISIONS = 5
_OWN_HEADING = re.compile(
    r"\W*(?:decisions?|decided|agreed|resolved|beschl(?:uss|üsse)|beschlossen)\b[^:\w]{0,5}"
    r"[\d./-]{0,12}\W{0,3}:",
    re.IGNORECASE,
)

_SUMMARY = r"(?:short |brief |quick |full |concise )?(?:summary|overview|recap|outline|gist)"
_PATTERN = pattern(
    r"(?:summari[sz]e|sum up|recap|outline|tl;?dr(?: of)?) (?P<name{}>.+)",
    r"(?:(?:give|write|make|show)(?: me| us)? |what(?: is|'s) )?(?:(?:an?|the|some) )?"
    rf"{_SUMMARY} (?:of|for) (?P<name{{}}>.+)",
    r"what(?: is|'s| was|'re| are| were) (?P<name{}>.+?) (?:all )?about",
    r"what (?:happened|was discussed|was talked about|was said|did they (?:discuss|talk about))"
    r" (?:in|at|during) (?P<name{}>.+)",
    r"what (?:is|was|are|were) the (?:main |key |important )?"
    r"(?:topics?|points?|themes?|subjects?|focus|contents?|takeaways)"
    r"(?: (?:discussed|talked about|covered))? (?:of|in|at) (?P<name{}>.+)",
)


def match(words: Words) -> Target | None:
    """A request for a summary of one to three documents, as a whole."""
    groups = groups_of(_PATTERN, words.text)
    ids = words.resolve(groups["name"]) if groups else ()
    if not 1 <= len(ids) <= MOST_DOCUMENTS:
        return None
    read_as = N_("a request for an overview of %(titles)s", titles=words.catalogue.titles(ids))
    return Target("summary", read_as, ids)


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """Of each document: length, speakers, the most telling sentence of each topic, decisions."""
    wording = target.wording
    for id_ in target.documents:
        document, about = overview_of(id_, store)
        yield Line(f"{about.title}: {', '.join(_measures(about, wording))}.")
        if about.speakers:
            speakers = ", ".join(_speakers(about, wording))
            yield Line(wording.say("Speakers: {speakers}.", speakers=speakers))
        for topic in about.topics:
            place = clock(topic.time) or topic.place
            on = "On {keywords} ({place}):" if place else "On {keywords}:"
            text = wording.say(on, keywords=", ".join(topic.keywords), place=place)
            yield Line(text, sentence(document, topic.quote))
        for each in about.decisions[:_MOST_DECISIONS]:
            yield decided(document, each, wording)


def decided(document: Document, quote: Quote, wording: Wording) -> Line:
    """A decision below its heading, left out where the quote begins with one of its own."""
    cited = sentence(document, quote)
    return Line("" if _OWN_HEADING.match(cited.text) else wording.say("Decided:"), cited)


def overview_of(id_: str, store: StoreView) -> tuple[Document, Overview]:
    """A document and its overview."""
    document = store.document(id_)
    return document, overview(document, store.passages_of(id_), store.passage_vectors_of(id_))


def sentence(document: Document, quote: Quote) -> Sentence:
    """A quote of an overview as a sentence that can be cited."""
    utterance = document.utterance_at(quote.start)
    start = utterance.start if utterance else None
    return Sentence(document, quote.start, quote.end, 0.0, start, quote.speaker, quote.time)


def _measures(about: Overview, wording: Wording) -> Iterator[str]:
    yield wording.count(about.words, "word")
    if about.pages:
        yield wording.count(about.pages, "page")
    if about.seconds:
        yield wording.say("{time} long", time=clock(about.seconds))


def _speakers(about: Overview, wording: Wording) -> Iterator[str]:
    for each in about.speakers[:_MOST_SPEAKERS]:
        yield f"{each.name} {each.share:.0%}"
    if len(about.speakers) > _MOST_SPEAKERS:
        yield wording.say("{number} more", number=len(about.speakers) - _MOST_SPEAKERS)
