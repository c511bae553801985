"""A request such as "Who attended meeting-2?": the speakers, with their share of the words."""

from __future__ import annotations

from collections.abc import Iterator

from generator.evidence import Span, evidence_sentences
from generator.overview.blocks import blocks
from generator.overview.overview import SpeakerShare, speaker_shares
from indexing.documents import Document
from indexing.message import N_
from indexing.store.view import StoreView
from rag_app.requests.listing import MOST_LINES, Line, more
from rag_app.requests.target import Target, Words, groups_of, pattern
from rag_app.requests.wording import Wording

_MOST_DOCUMENTS = 3
_HEADS = (
    "1 person speaks in {title}; a transcript does not show who is silent:",
    "{number} people speak in {title}; a transcript does not show who is silent:",
)

_PEOPLE = r"(?:participants|speakers|attendees|people|members|persons)"
_WAS = r"(?:was|were|is|are)"
_VERB = (
    r"(?:attended|joined|attends"
    rf"|(?:{_WAS} )?(?:(?:present|there|speaking|in attendance|all) )?(?:in|at)"
    r"|(?:spoke|speaks|talked|talks|participated|participates|took part|takes part|said anything)"
    r"(?: (?:the )?(?:most|more|least))? (?:in|at|during))"
)
_ALL = r"(?:all )?(?:the|these|your|my) (?:documents|meetings|transcripts|files)"
_PATTERN = pattern(
    rf"who (?:all )?{_VERB} (?P<name{{}}>.+)",
    rf"who {_WAS} the {_PEOPLE} (?:of|in|at|from) (?P<name{{}}>.+)",
    rf"(?:which|what|how many) {_PEOPLE} {_VERB} (?P<name{{}}>.+)",
    rf"how many {_PEOPLE} (?:are|were) there (?:in|at) (?P<name{{}}>.+)",
    rf"(?:list|name|show)(?: me)? (?:all )?(?:the )?{_PEOPLE} (?:of|in|at|from) (?P<name{{}}>.+)",
    r"who (?:said|says) (?:the )?(?:most|least) (?:in|at|during) (?P<name{}>.+)",
)
_EVERYWHERE = pattern(
    rf"who (?:are|were) (?:all )?the speakers(?: (?:in|of) {_ALL})?",
    rf"(?:list|name|show)(?: me)? (?:all )?(?:of )?(?:the )?speakers(?: (?:in|of) {_ALL})?",
    rf"who (?:speaks|spoke|talks) in {_ALL}",
)


def match(words: Words) -> Target | None:
    """A request for the speakers of a transcript, or of all."""
    catalogue = words.catalogue
    if groups_of(_EVERYWHERE, words.text) and catalogue.transcripts:
        return Target("speakers", "a request for the speakers", words.scope)
    groups = groups_of(_PATTERN, words.text)
    ids = words.resolve(groups["name"]) if groups else ()
    if not ids or not catalogue.transcripts.issuperset(ids):
        return None
    return Target(
        "speakers",
        N_("a request for the speakers of %(titles)s", titles=catalogue.titles(ids)),
        ids,
    )


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """Of one to three transcripts, each speaker with their share and first words; else counts."""
    if not 1 <= len(target.documents) <= _MOST_DOCUMENTS:
        yield from _everybody(target, store)
        return
    wording = target.wording
    for id_ in target.documents:
        document = store.document(id_)
        shares = speaker_shares(blocks(document))
        number = wording.number(len(shares))
        yield Line(wording.say(_HEADS[len(shares) != 1], number=number, title=document.title))
        for share in shares[:MOST_LINES]:
            yield _line(document, share, wording)
        remedy = wording.say("rag-app overview {id} shows all", id=id_)
        yield from more(len(shares), wording, remedy)


def _line(document: Document, speaker: SpeakerShare, wording: Wording) -> Line:
    """A speaker's share, with the first thing that they say."""
    about = {
        "name": speaker.name,
        "share": f"{speaker.share:.0%}",
        "utterances": wording.count(speaker.utterances, "utterance"),
    }
    first = next(one for one in document.utterances if one.speaker == speaker.name)
    sentences = evidence_sentences([Span(document, first.start, first.end, 0.0)])
    if not sentences:
        return Line(wording.say("{name}, {share} of the words in {utterances}", **about))
    text = wording.say("{name}, {share} of the words in {utterances}, first:", **about)
    return Line(text, sentences[0])


def _everybody(target: Target, store: StoreView) -> Iterator[Line]:
    """The speakers of many transcripts, with the number of documents each speaks in."""
    wording = target.wording
    documents: dict[str, int] = {}
    for id_ in target.documents or sorted(store.transcripts()):
        for name in {name for passage in store.passages_of(id_) for name in passage.speakers}:
            documents[name] = documents.get(name, 0) + 1
    yield Line(f"{wording.count(len(documents), 'speaker')}:")
    for name, number in sorted(documents.items(), key=lambda each: (-each[1], each[0]))[
        :MOST_LINES
    ]:
        among = wording.count(number, "document among")
        yield Line(wording.say("{name}, in {documents}", name=name, documents=among))
    remedy = wording.say("ask for the speakers of one document")
    yield from more(len(documents), wording, remedy)
