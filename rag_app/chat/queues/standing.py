"""Standing questions in a conversation: what is new since they were asked is told there, once."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace

from generator.answer import Answer, AnswerReady, Citation
from generator.request import AskRequest
from indexing.filter import Filter, Scope
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.corpus.access import SharedCorpus
from rag_app.corpus.watching.standing_questions import StandingQuestions
from rag_app.requests.listing import events
from rag_app.requests.standing import lines, target_of

MOST_IN_MESSAGE = 20  # places
MOST_PLACES = 200  # after which it stands no more: a word that is everywhere is no question


def begun(corpus: SharedCorpus, exchange: Exchange, reader: Scope) -> Exchange | None:
    """An exchange as a standing question, for which all that is there is known; None for any other.

    Raises:
        CorpusError: What has been told cannot be remembered.
    """
    target = target_of(exchange.question) if exchange.read_as == "auto" else None
    if target is None:
        return None
    asked = replace(exchange, standing=secrets.token_hex(8))
    list(question_of(corpus, asked, reader).new())
    said = events(AskRequest(exchange.question), target, lines(target, stands=True), 0.0)
    answer = next(one.answer for one in said if isinstance(one, AnswerReady))
    return replace(asked, state="done", text=answer.text, answer=answer, note="")


def question_of(corpus: SharedCorpus, exchange: Exchange, reader: Scope) -> StandingQuestions:
    """The standing question of an exchange, of what a person may read."""
    where = Filter(documents=exchange.documents, collections=exchange.collections)
    name = f"\n{exchange.standing}"  # which no collection is called
    return corpus.standing(exchange.question, where=where, reader=reader, name=name)


def standing_in(conversation: Conversation) -> Iterator[Exchange]:
    """The exchanges that ask a standing question that has not been stopped."""
    return (one for one in conversation.exchanges if one.standing and not one.told)


def stopped(conversation: Conversation, name: str) -> Conversation:
    """The conversation in which a question stands no more."""
    exchanges = (
        replace(one, standing="") if one.standing == name and not one.told else one
        for one in conversation.exchanges
    )
    return replace(conversation, exchanges=tuple(exchanges))


def with_told(conversation: Conversation, name: str, place: Citation) -> Conversation:
    """The conversation with a message of a new place, unless it has that, or is to have none."""
    asked = next((one for one in standing_in(conversation) if one.standing == name), None)
    messages = [one for one in conversation.exchanges if one.told and one.standing == name]
    known = [each for one in messages if one.answer for each in one.answer.citations]
    if asked is None or any(_is_of(place, one) for one in known):
        return conversation
    last = conversation.exchanges[-1]
    if last in messages and last.answer and len(last.answer.citations) < MOST_IN_MESSAGE:
        number = len(conversation.exchanges) - 1
        conversation = conversation.with_exchange(number, _with_place(last, last.answer, place))
    else:
        message = Exchange(asked.question, state="done", standing=name, told=True)
        answer = Answer(asked.question, "", kind="standing")
        conversation = conversation.followed_by(_with_place(message, answer, place))
    return stopped(conversation, name) if len(known) + 1 >= MOST_PLACES else conversation


def _is_of(place: Citation, known: Citation) -> bool:
    """Whether it is a place that is known, whose sentence may have gone on since.

    A server that was killed before it could remember that it told of it would tell of it again.
    """
    same = (place.document, place.start) == (known.document, known.start)
    return same and place.quote.startswith(known.quote)


def _with_place(message: Exchange, answer: Answer, place: Citation) -> Exchange:
    """A message with one more place, as a line that ends in its quote."""
    marker = len(answer.citations) + 1
    of_whom = ", ".join(filter(None, (place.title, place.speaker)))
    line = " ".join(f"{of_whom}: {place.quote} [{marker}]".split())
    text = f"{answer.text}\n{line}".lstrip()
    cited = replace(place, marker=marker, verified=True, overlap=1.0, similarity=1.0)
    answer = replace(answer, text=text, citations=(*answer.citations, cited))
    return replace(message, text=text, answer=answer)
