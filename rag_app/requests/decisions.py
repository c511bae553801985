"""A request such as "What was decided in meeting-3?" or "What is Maren to do?": from the register.

Of documents that are named, their decisions and actions; else those of all, with what became of
them, of somebody or of everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from generator.overview.commitments import CommitmentKind
from generator.overview.overview import Action, Quote
from generator.register.entry import Entry, Matter, State
from indexing.filter import Filter
from indexing.store.view import StoreView
from rag_app.register.reading import RegisterLimits, register_of
from rag_app.requests.introduction import ALL
from rag_app.requests.listing import MOST_LINES, Line, more
from rag_app.requests.summary import MOST_DOCUMENTS, decided, overview_of, sentence
from rag_app.requests.target import Target, Words, groups_of, pattern
from rag_app.requests.wording import Wording

MOST_READ = 200
"""Documents that are read for an answer; of more, the question is looked up."""

_IN = r"(?:in|at|during|of|from)"
_NOUN = (
    r"(?P<noun{}>decisions?|actions?|action items?|action points?|next steps?|outcomes?"
    r"|resolutions?|to-?dos?|tasks?|conclusions?)"
    r"(?: and (?:the )?(?:actions?|action items?|next steps?|tasks?))?"
)
_PARTICIPLE = r"(?:decided|agreed|agreed on|concluded|resolved)"
_PATTERN = pattern(
    rf"what (?:was|has been|were|is) {_PARTICIPLE}(?: on)? {_IN} (?P<name{{}}>.+)",
    r"what did (?:they|the (?:team|group)|people|everyone|we) (?:decide|agree|conclude)(?: on)?"
    rf" {_IN} (?P<name{{}}>.+)",
    rf"(?:what|which) (?:are|were|is|was) the (?:main |key |final )?{_NOUN}"
    rf"(?: made| taken| reached)? {_IN} (?P<name{{}}>.+)",
    rf"(?:what|which) {_NOUN} (?:were|was|are|is) (?:there|made|taken|reached|agreed|agreed on)"
    rf" {_IN} (?P<name{{}}>.+)",
    rf"(?:list|show|give|name)(?: me| us)? (?:all )?(?:of )?(?:the )?(?:main |key )?{_NOUN}"
    rf"(?: made| taken)? {_IN} (?P<name{{}}>.+)",
)
_ACTIONS = re.compile(r"action|next|to-?do|task", re.IGNORECASE)

_STATE = (
    r"(?P<state{}>open|outstanding|unfinished|pending|unresolved|unanswered|done|finished|completed"
    r"|dropped|cancelled|changed|revised|confirmed)"
)
_STATES: dict[str, tuple[State, ...]] = {
    **dict.fromkeys(("done", "finished", "completed"), ("done",)),
    **dict.fromkeys(("dropped", "cancelled"), ("dropped",)),
    **dict.fromkeys(("changed", "revised"), ("changed",)),
    "confirmed": ("confirmed",),
}
_ITEMS = r"(?P<noun{}>decisions|actions|action items|action points|to-?dos|tasks|questions)"
_SURE = r"(?P<noun{}>decisions|action items|action points|to-?dos)"  # of meetings, without more
_WHOM = r"(?P<person{}>[^\W\d_][\w.'’ -]{0,60}?)"  # noqa: RUF001 - typographic apostrophe
_GIVEN = r"(?:(?:that )?(?:are|were|is|was) )?(?:assigned|given) to"
_SHOW = r"(?:what|which) (?:are|were)|list|show|name|give"
_OVER_ALL = rf"(?: (?:of|in|at|from|across|over|during) {ALL})?"
_REGISTER = pattern(
    rf"(?:{_SHOW})(?: me| us)? (?:all )?(?:of )?(?:the )?(?:{_STATE} )?{_ITEMS} (?:{_GIVEN}|for|of)"
    rf" {_WHOM}{_OVER_ALL}",
    rf"(?:(?:{_SHOW})(?: me| us)? )?(?:all )?(?:of )?{_WHOM}'s? (?:{_STATE} )?{_ITEMS}{_OVER_ALL}",
    rf"(?:what|which) (?:{_STATE} )?{_ITEMS} (?:does|did) {_WHOM} (?:still )?have",
    rf"(?:what|which) (?:{_STATE} )?{_ITEMS} {_GIVEN} {_WHOM}",
    rf"what (?:does|did) {_WHOM} (?:still )?(?:have|need|agree|promise|offer) to do",
    rf"what (?:has|had) {_WHOM} (?:agreed|promised|offered) to do",
    rf"what (?:is|was) {_WHOM} (?:still )?(?:supposed |meant )?to do",
    rf"what (?:is|was) (?:assigned|given) to {_WHOM}",
    rf"(?:{_SHOW})(?: me| us)? all (?:of )?(?:the )?(?:{_STATE} )?{_ITEMS}{_OVER_ALL}",
    rf"(?:(?:{_SHOW})(?: me| us)? )?(?:the )?{_STATE} {_ITEMS}{_OVER_ALL}",
    rf"(?:{_SHOW})(?: me| us)? (?:the )?{_SURE}{_OVER_ALL}",
    rf"(?:what|which) (?:{_STATE} )?{_SURE} (?:do we have"
    rf"|(?:were|was|are|have been) (?:there|made|taken|agreed)){_OVER_ALL}",
    rf"(?:what|which) {_STATE} {_ITEMS} (?:are there|do we have){_OVER_ALL}",
    rf"(?:what|which) {_ITEMS} (?:are|is|were|was|have been|got) (?:still )?{_STATE}{_OVER_ALL}",
    r"what (?:is|was) still (?P<state{}>open|outstanding|unresolved)",
    rf"what (?P<bare{{}}>was|has been|were) {_PARTICIPLE}(?: on)?{_OVER_ALL}",
    rf"(?P<noun{{}}>decisions|actions|action items|tasks) (?:of|in|from|across|over) {ALL}",
)


def match(words: Words) -> Target | None:
    """A request for decisions, actions or open questions: of one to three documents, or of all."""
    groups = groups_of(_PATTERN, words.text)
    name = groups.get("name", "")
    ids = words.resolve(name) if name else ()
    if 1 <= len(ids) <= MOST_DOCUMENTS:
        subject = "actions" if _ACTIONS.match(groups.get("noun", "")) else "decisions and actions"
        read_as = f"a request for the {subject} of {words.catalogue.titles(ids)}"
        return Target("decisions", read_as, ids, phrase=subject)
    return _of_all(words, groups_of(_REGISTER, words.text))


def _of_all(words: Words, groups: dict[str, str]) -> Target | None:
    """A request for matters of the register; None where it names nobody who is known."""
    if not groups or words.catalogue.is_larger_than(MOST_READ):
        return None
    person, noun, state = (groups.get(key, "") for key in ("person", "noun", "state"))
    people = words.catalogue.people_called(person) if person else ()
    limited = words.where.is_of_occasions or re.search(rf"{ALL}$", words.text, re.IGNORECASE)
    if (person and not people) or (groups.get("bare") and not limited):
        return None
    if noun == "questions" and not state:
        return None
    subject = "decisions and actions" if groups.get("bare") else noun or "actions and questions"
    subject = "actions" if person or (noun and _ACTIONS.match(noun)) else subject
    states: tuple[State, ...] = _STATES.get(state.lower(), ("open",)) if state else ()
    of_whom = f" of {people[0] if len(people) == 1 else person}" if person else ""
    what = " ".join(filter(None, (states[0] if states else "", subject)))
    return Target(
        "decisions",
        f"a request for all {what}{of_whom}",
        words.scope,
        phrase=subject,
        literal=False,
        person=people[0] if len(people) == 1 else person,
        states=states,
    )


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """Decisions, actions and questions with who and when; none where none is found."""
    if target.literal:
        yield from _of_documents(target, store)
        return
    wording = target.wording
    kinds: dict[str, tuple[CommitmentKind, ...]] = {
        "actions": ("action",),
        "decisions": ("decision",),
        "questions": ("question",),
        "decisions and actions": ("decision", "action"),
    }
    where = Filter(documents=target.documents)
    of_kinds = kinds.get(target.phrase, ("action", "question"))
    found = register_of(store, RegisterLimits(target.person, of_kinds, target.states, where))
    total = sum(len(matter.entries) for matter in found)
    if total:
        meetings = wording.count(found.meetings, "meeting")
        counted = wording.count(len(found), "matter")
        yield Line(
            wording.say(
                "{matters} of {meetings}, in sentences that say so in so many words:",
                matters=counted,
                meetings=meetings,
            )
        )
        every = (line for matter in found for line in _of_matter(matter, store, wording))
        yield from islice(every, MOST_LINES)
        yield from more(total, wording, wording.say("rag-app register shows all"))


def _of_matter(matter: Matter, store: StoreView, wording: Wording) -> Iterator[Line]:
    """What is to be done or holds, then what else was said of it."""
    stated = matter.stated
    heading = {"decision": "Decided", "action": "To do", "question": "To be answered"}
    due = f"{matter.until} ({matter.due})" if matter.due else matter.until
    state = wording.say(matter.state)
    about = (wording.say(heading[matter.kind]), matter.who, due, state, *_place(stated, wording))
    yield _quoted(about, stated, store)
    for one in matter.entries:
        if one is not stated:
            tells = wording.say(one.tells if one is not matter.entries[0] else "said first")
            yield _quoted((tells, *_place(one, wording)), one, store)


def _place(entry: Entry, wording: Wording) -> tuple[str, str]:
    return entry.title, entry.day or wording.say("no date")


def _quoted(about: tuple[str, ...], entry: Entry, store: StoreView) -> Line:
    document = store.document(entry.document)
    return Line(f"{', '.join(filter(None, about))}:", sentence(document, entry.quote))


def _of_documents(target: Target, store: StoreView) -> Iterator[Line]:
    """Of each document, decisions and then actions with who and when."""
    wording = target.wording
    for id_ in target.documents:
        document, about = overview_of(id_, store)
        decisions: tuple[Quote, ...] = about.decisions if "decisions" in target.phrase else ()
        every = [
            *(decided(document, each, wording) for each in decisions),
            *(
                Line(_to_do(each, wording), sentence(document, each.quote))
                for each in about.actions
            ),
        ]
        if every:
            yield Line(
                wording.say(
                    "{title}, in sentences that say so in so many words:", title=about.title
                )
            )
            yield from every[:MOST_LINES]
            yield from more(
                len(every), wording, wording.say("rag-app overview {id} shows all", id=id_)
            )


def _to_do(action: Action, wording: Wording) -> str:
    details = ", ".join(filter(None, (action.who, action.when)))
    if not details:
        return wording.say("To do:")
    return wording.say("To do, {details}:", details=details)
