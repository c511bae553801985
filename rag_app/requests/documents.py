"""A request such as "What documents do you have?": a list of them."""

from __future__ import annotations

from collections.abc import Iterator

from indexing.message import N_
from indexing.store.view import StoreView
from rag_app.requests.listing import MOST_LINES, Line, more
from rag_app.requests.target import Target, Words, groups_of, pattern

_NOUN = r"(?P<noun{}>documents|files|meetings|transcripts|recordings|sources|texts)"
_CORPUS = r"(?:the|this|my|our|your) (?:corpus|collection|library|knowledge base)"
_ALL = r"(?:(?:all|of|the|your|my|our|available|indexed) )*"

_PATTERN = pattern(
    rf"(?:what|which|how many) {_NOUN} (?:do|did) (?:you|we|i) (?:currently )?"
    r"(?:have|know|hold|read|index|cover|upload|add)(?: of| about| access to| here| now)?",
    rf"(?:what|which|how many) {_NOUN} have (?:you|i|we)(?: got| read| indexed| uploaded| added)",
    rf"(?:what|which|how many) {_NOUN} (?:are|is) (?:there )?(?:in {_CORPUS}|available|indexed)",
    rf"(?:what|which) {_NOUN} can i (?:ask|search|read)(?: you)?(?: about| in)?",
    rf"(?:list|name|enumerate|show)(?: me)? {_ALL}{_NOUN}"
    rf"(?: that| which)?(?: you have| in {_CORPUS}| available)?",
    rf"(?:a |the )?(?:complete |full )?list of {_ALL}{_NOUN}(?: you have| in {_CORPUS})?",
    rf"(?:what|which) {_NOUN} are there",
    rf"how many {_NOUN} are there in {_CORPUS}",
    r"what can i ask(?: you)?(?: about)?",
    rf"what(?:'s| is) in {_CORPUS}",
)
_SPOKEN = {"meetings", "transcripts", "recordings"}


def match(words: Words) -> Target | None:
    """A request for the list of documents."""
    groups = groups_of(_PATTERN, words.text)
    if not groups:
        return None
    spoken = groups.get("noun", "").lower() in _SPOKEN
    kind = N_("transcripts") if spoken else N_("documents")
    read_as = N_("a request for the list of %(kind)s", kind=kind)
    return Target("documents", read_as, words.scope, spoken)


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """How many there are, then each with its format and length."""
    wording = target.wording
    transcripts = store.transcripts()
    entries = [
        entry
        for entry in store.entries()
        if not target.documents or entry.id in target.documents
        if not target.spoken or entry.id in transcripts
    ]
    yield Line(f"{wording.count(len(entries), 'transcript' if target.spoken else 'document')}:")
    for entry in entries[:MOST_LINES]:
        yield Line(f"{entry.title} ({entry.format}, {wording.count(entry.words, 'word')})")
    yield from more(len(entries), wording, wording.say("rag-app list shows all"))
