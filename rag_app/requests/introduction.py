"""A greeting, "What can you do?", or what cannot be done: what the program is and can do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from indexing.message import N_
from indexing.store.view import DocumentEntry, StoreView
from rag_app.requests.listing import Line
from rag_app.requests.summary import MOST_DOCUMENTS
from rag_app.requests.target import Target, Words, groups_of, pattern
from rag_app.requests.wording import Wording

NEW_TEXT = "writing"
"""The phrase of a request for a text that is in no document, which a language model can write."""

_NAMED = 5  # documents that are named
_SHORT = 60  # characters of a title that a question is offered with

_SAID = {
    N_("a greeting"): pattern(
        r"(?:hi|hello|hey|hiya|howdy|greetings)(?: (?:there|all|everyone|everybody|you|again))?",
        r"good (?:morning|afternoon|evening|day)",
        r"(?:hi|hello|hey)?,? ?how are (?:you|things)(?: doing)?(?: today)?",
    ),
    N_("thanks"): pattern(
        r"(?:many |ok |okay |great |perfect )?(?:thanks|thank you|thx|cheers)"
        r"(?: (?:a lot|so much|very much|again|for (?:your|the) (?:help|answers?)))?",
        r"(?:good ?)?bye(?:[ -]bye)?",
    ),
    N_("a question about what the program is"): pattern(
        r"(?:who|what) (?:are|r) you",
        r"what(?: is|'s) (?:your name|this (?:program|app|tool|site|page))",
        r"are you (?:an? )?(?:human|person|robot|bot|chatbot|machine|program|ai|chatgpt|real)",
        r"(?:introduce|describe) yourself",
    ),
    N_("a question about what the program can do"): pattern(
        r"what (?:can|do|could) you do(?: for (?:me|us))?",
        r"what are you (?:able to do|good (?:for|at))",
        r"what (?:are )?your (?:abilities|capabilities|features)(?: are)?",
        r"how (?:can|could) you help(?: (?:me|us))?",
        r"what can you help(?: (?:me|us))? with",
        r"how (?:does this (?:program|app|tool) work|do you work"
        r"|(?:do|can|should) i use (?:you|this)(?: (?:program|app|tool))?)",
        r"what can i do(?: (?:here|with (?:this|you)))",
        r"help(?: me)?",
    ),
}
_SPOKEN = r"(?:meetings?|transcripts?|recordings?)"
_NOUN = rf"(?:documents?|files?|texts?|reports?|sources?|{_SPOKEN})"
ALL = (
    rf"(?:everything|(?:all|each|every)(?: of)?(?: (?:the|my|our|these|your))?(?: {_NOUN})?"
    r"|(?:the|this|my|our) (?:whole |entire )?(?:corpus|collection|library)"
    rf"|(?:the|my|our|these) (?:documents|files|meetings|transcripts|recordings))"
)
"""Words for everything that there is."""
_SUMMARY = (
    r"(?:short |brief |quick |full |concise |one-page )?(?:summary|overview|recap|outline|gist)"
)
_OF_ALL = pattern(
    rf"(?:summari[sz]e|sum up|recap|outline) {ALL}",
    r"(?:(?:give|write|make|show|create|generate)(?: me| us)? )?(?:(?:an?|the|some) )?"
    rf"{_SUMMARY} (?:of|for|over|across) {ALL}",
    rf"what (?:was|were) (?:discussed|said) (?:in|at) {ALL}",
    rf"what (?:is|are) {ALL} about",
)
_WRITING = pattern(
    r"(?:write|draft|compose|create|generate)(?: me| us)?"
    r" (?:an? |the |some )?(?:\w+ ){0,2}(?:e-?mails?|letters?|poems?|essays?|articles?|story"
    r"|stories|blog posts?|presentations?|slides|reports?|speech|songs?|press releases?|minutes)"
    r"(?: .+)?",
    r"translate (?:.+)",
)
_OPENINGS = {
    "a greeting": "Hello.",
    "thanks": "You are welcome.",
    "a question about what the program is": "This is rag-app, a program that answers questions "
    "about documents.",
    "several": "An overview covers {most} documents at most, so that it has room for quotes of "
    "each; {documents} are too many at once.",
    "nothing": "There is no such document here to sum up.",
    NEW_TEXT: "Answers in quotes hold no new texts, such as letters and translations.",
}
_IS = (
    "rag-app answers with sentences of the documents, word for word, each with its place, so that "
    "you can check it; what no document says, it does not make up."
)


def match(words: Words) -> Target | None:
    """A greeting, a question about the program, or a wish that it cannot fulfil."""
    for read_as, expression in _SAID.items():
        if groups_of(expression, words.text):
            return Target("introduction", read_as, phrase=read_as)
    if groups_of(_OF_ALL, words.text):
        return _of_all(words, spoken=re.search(rf"{_SPOKEN}$", words.text) is not None)
    if groups_of(_WRITING, words.text):
        return Target("introduction", N_("a request for a new text"), words.scope, phrase=NEW_TEXT)
    return None


def _of_all(words: Words, *, spoken: bool) -> Target:
    """A summary of all documents: of few their overview, of many what can be asked instead."""
    catalogue = words.catalogue
    every = words.scope or tuple(catalogue.entries)
    ids = tuple(id_ for id_ in every if not spoken or id_ in catalogue.transcripts)
    if 1 <= len(ids) <= MOST_DOCUMENTS:
        read_as = N_("a request for an overview of %(titles)s", titles=catalogue.titles(ids))
        return Target("summary", read_as, ids)
    phrase = "several" if ids else "nothing"
    return Target(
        "introduction", N_("a request for a summary of many documents"), ids, spoken, phrase
    )


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """What the program is, which documents there are, and questions that it can answer."""
    wording, entries = target.wording, store.entries()
    noun = "transcript" if target.spoken else "document"
    about = [one for one in entries if not target.documents or one.id in target.documents]
    if opening := _OPENINGS.get(target.phrase):
        count = wording.count(len(about), noun)
        yield Line(wording.say(opening, most=MOST_DOCUMENTS, documents=count))
    if target.phrase == "thanks":
        return
    if target.phrase not in {"several", "nothing"}:
        yield Line(wording.say(_IS))
        yield _contents(about, wording)
    if about:
        yield Line(wording.say("You can ask, for example:"))
    most = _NAMED if target.phrase == "several" else 2
    heard = [one for one in about if one.id in store.transcripts()]
    for each in _offers(about, heard, most, wording):
        yield Line(f"- {each}")


def _contents(about: Sequence[DocumentEntry], wording: Wording) -> Line:
    """How many documents there are, and what the first are called."""
    if not about:
        return Line(wording.say("There are no documents yet: add some, then ask."))
    titles = ", ".join(one.title for one in about[:_NAMED])
    beyond = wording.number(len(about) - _NAMED)
    more = wording.say(" and {number} more", number=beyond) if len(about) > _NAMED else ""
    return Line(f"{wording.count(len(about), 'document')}: {titles}{more}.")


def _offers(
    about: Sequence[DocumentEntry], spoken: Sequence[DocumentEntry], most: int, wording: Wording
) -> Iterator[str]:
    """Questions of each kind, with titles of documents that are there."""
    heard = [one.title for one in spoken if _can_be_named(one.title)]
    named = [one.title for one in about if _can_be_named(one.title)]
    for title in list(dict.fromkeys((*heard, *named)))[:most]:
        yield wording.say("Summarize {title}", title=title)
    for title in heard[:1]:
        yield wording.say("Who spoke in {title}?", title=title)
    if about:
        yield wording.say("Which documents mention costs?")
        yield wording.say("What documents do you have?")


def _can_be_named(title: str) -> bool:
    return len(title) <= _SHORT and re.search(r"[,&?]|\band\b", title) is None
