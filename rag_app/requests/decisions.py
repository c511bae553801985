"""A request such as "What was decided in meeting-3?": decisions and actions, in quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from generator.overview.overview import Action
from indexing.store.view import StoreView
from rag_app.requests.listing import MOST_LINES, Line, more
from rag_app.requests.summary import MOST_DOCUMENTS, overview_of, sentence
from rag_app.requests.target import Target, Words, groups_of, pattern
from rag_app.requests.wording import Wording

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


def match(words: Words) -> Target | None:
    """A request for the decisions, or the actions, of one to three documents."""
    groups = groups_of(_PATTERN, words.text)
    if not groups:
        return None
    ids = words.resolve(groups["name"])
    if not 1 <= len(ids) <= MOST_DOCUMENTS:
        return None
    subject = "actions" if _ACTIONS.match(groups.get("noun", "")) else "decisions and actions"
    read_as = f"a request for the {subject} of {words.catalogue.titles(ids)}"
    return Target("decisions", read_as, ids, phrase=subject)


def lines(target: Target, store: StoreView) -> Iterator[Line]:
    """Of each document, decisions and then actions with who and when; none where none is found."""
    wording = target.wording
    for id_ in target.documents:
        document, about = overview_of(id_, store)
        decisions = about.decisions if "decisions" in target.phrase else ()
        every = [
            *(Line(wording.say("Decided:"), sentence(document, each)) for each in decisions),
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
