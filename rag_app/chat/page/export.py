"""A conversation as a file: Markdown for people, JSON for programs."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import asdict

from generator.answer import NOT_SAID, Answer, Citation, ContextEntry
from generator.answer_json import as_json
from rag_app.chat.conversation import Conversation, Exchange, PositionCheckRecord
from rag_app.chat.language.current import count, day, gettext, ngettext, percent
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page.quote_context import citation_place
from rag_app.markdown_text import escaped, first_escaped, plain
from rag_app.short_answer import AnswerLine, Emphasis, answer_lines, at_markers, quote_emphasis


def markdown(conversation: Conversation) -> str:
    """The conversation with its quotes; document text is escaped, so it stays text."""
    lines = [
        f"# {plain(conversation.title)}",
        "",
        gettext("Started %(day)s.", day=day(conversation.begun, month="MMMM")),
        "",
    ]
    for exchange in conversation.exchanges:
        title = exchange.question
        if exchange.told:
            title = gettext("New: %(question)s", question=title)
        lines += [f"## {plain(title)}", "", *_answer_lines(exchange), ""]
    return "\n".join(lines).rstrip() + "\n"


def as_text(conversation: Conversation) -> str:
    """The conversation as one JSON object."""
    return json.dumps(
        {
            "id": conversation.id,
            "title": conversation.title,
            "begun": conversation.begun,
            "exchanges": [
                {
                    "question": exchange.question,
                    "documents": list(exchange.documents),
                    "state": exchange.state,
                    "text": exchange.text,
                    "answer": as_json(exchange.answer) if exchange.answer else None,
                    "note": exchange.note,
                    "position_check": asdict(exchange.check) if exchange.check else None,
                }
                for exchange in conversation.exchanges
            ],
        },
        ensure_ascii=False,
        indent=2,
    )


def _answer_lines(exchange: Exchange) -> list[str]:
    if exchange.answer and exchange.mode == "quote":
        texts = [_quote_line(line) for line in answer_lines(exchange.answer)]
        if exchange.text == NOT_SAID:
            texts = [translated(NOT_SAID)]
    else:
        texts = _marked(exchange).split("\n")
    lines = [line for text in texts for line in (text, "")]
    if exchange.state != "done":
        note = f": {plain(translated(exchange.note))}" if exchange.note else ""
        lines += [f"({translated(exchange.state)}{note})", ""]
    lines += _notes(exchange.answer) if exchange.answer else []
    return lines + (_check_lines(exchange.check) if exchange.check else [])


def _quote_line(line: AnswerLine) -> str:
    """A line of quotes, its marker bold, and the words that answer."""
    marker = "" if line.marker is None else f" **\\[{line.marker}\\]**"
    return _bold(line.text) + marker


def _marked(exchange: Exchange) -> str:
    """The answer, its own markers bold: a "[2]" that a document contains is plain text."""
    return "".join(
        _plain_lines(part) + ("" if marker is None else f"**\\[{marker}\\]**")
        for part, marker in at_markers(exchange.text, exchange.mode)
    )


def _check_lines(check: PositionCheckRecord) -> list[str]:
    outcome = gettext("the answer does not change")
    if check.changed:
        outcome = ngettext(
            "%(num)s of %(all)s variants changes the answer",
            "%(num)s of %(all)s variants change the answer",
            check.changed,
            all=count(len(check.tried)),
        )
    name, agreement = gettext("Position check"), gettext("agreement")
    return ["", f"- {name}: {outcome} ({agreement} {percent(check.agreement)})"]


def _notes(answer: Answer) -> list[str]:
    notes = [
        line
        for citation in answer.citations
        for line in _note(citation, quote_emphasis(citation, answer.short))
    ]
    doubts = [
        "- " + gettext("Not supported: %(sentence)s", sentence=plain(each))
        for each in answer.unsupported
    ]
    read = [f"- {_read(entry)}" for entry in answer.context]
    return [*notes, *_closest_lines(answer), *doubts, *([""] if doubts else []), *read]


def _read(entry: ContextEntry) -> str:
    """How much was read of a document."""
    title = entry.title if entry.document else translated(entry.title)
    return gettext(
        "Read %(read)s of %(all)s tokens of %(title)s",
        read=count(entry.kept),
        all=count(entry.tokens),
        title=plain(title),
    )


def _closest_lines(answer: Answer) -> list[str]:
    if not answer.closest:
        return []
    lines = [gettext("Closest passages (related, but not an answer):"), ""]
    for each in answer.closest:
        lines += [f"> {_place(each)}", f"> “{plain(each.quote)}”", ""]
    return lines


def _note(citation: Citation, quote: Emphasis) -> list[str]:
    doubt = f" ({translated(citation.doubt)})" if citation.doubt else ""
    return [f"> \\[{citation.marker}\\] {_place(citation)}{doubt}", f"> “{_bold(quote)}”", ""]


def _place(citation: Citation) -> str:
    place = citation_place(citation)
    about = ", ".join(part for part in (citation.title, place) if part)
    characters = gettext("characters %(start)s-%(end)s", start=citation.start, end=citation.end)
    return f"{plain(about)}, {characters}"


def _bold(text: Emphasis) -> str:
    """A text in one line, its words bold where Markdown can tell that two asterisks begin bold."""
    cut = text.in_one_line
    opens = cut.words and (not _is_mark(cut.words[0]) or _is_mark(cut.before[-1:]))
    if not opens or (_is_mark(cut.words[-1]) and not _is_mark(cut.after[:1])):
        return plain(cut.text)
    before, after = escaped(cut.before), escaped(cut.after)
    return f"{first_escaped(before)}**{escaped(cut.words)}**{after}"


def _is_mark(character: str) -> bool:
    """Whether it is punctuation, a symbol, white space, or the end of the text (CommonMark 6.2)."""
    return unicodedata.category(character or " ")[0] in "PSZ"


def _plain_lines(text: str) -> str:
    """`plain` of each line, with the spaces at its ends that part it from a marker."""
    spaced = (
        (" " * line.startswith(" "), plain(line), " " * line.endswith(" "))
        for line in text.split("\n")
    )
    return "\n".join("".join(parts) if parts[1] else parts[0] for parts in spaced)
