"""The answers of a batch as one self-contained HTML page, grouped by document.

The template escapes everything that comes from documents, questions or models; the page's
Content-Security-Policy forbids scripts and external resources.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.answer import MARK, marker_spans
from indexing.errors import InvalidRequest
from indexing.text.disfluency import without_noise
from rag_app.batch.refresh import Change
from rag_app.output_file import refuse_foreign, same_file, write_whole
from rag_app.short_answer import Emphasis, emphasis

Json = dict[str, Any]

EVERYTHING = "All documents"
_TITLE = "Answers"


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an answer."""

    text: str  # as it was written
    marker: int | None = None  # the quote that it points to, for a marker
    unsupported: bool = False  # whether it is a sentence that no quote supports
    doubt: bool = False  # whether it is the mark after such a sentence


@dataclass(frozen=True, slots=True)
class Group:
    """The answers to questions about the same documents, each with its `number` on the page."""

    title: str
    answers: tuple[Json, ...]


def page(answers: Sequence[Json], *, title: str = _TITLE) -> str:
    """The whole page, from lines of an answer file."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: without_noise(value) if type(value) is str else value,
    )
    environment.filters["pieces"] = lambda answer: list(pieces(answer))
    environment.filters["emphasis"] = quote_emphasis
    template = environment.get_template("report.html")
    failed = sum(answer["error"] is not None for answer in answers)
    return template.render(
        title=title,
        groups=groups(answers),
        total=len(answers),
        failed=failed,
        abstained=sum(bool(answer.get("abstained")) for answer in answers),
        unsupported=sum(len(answer.get("unsupported", ())) for answer in answers),
        settings=_settings(answers),
        changed=[
            number
            for number, answer in enumerate(answers, 1)
            if (change := Change.of(answer)) and change.changed
        ],
    )


def write(path: Path, answers: Sequence[Json]) -> None:
    """Write the page to a file.

    Raises:
        InputError: It cannot be written.
    """
    write_whole(path, page(answers).encode(errors="replace"))


def refuse(path: Path, *others: Path) -> None:
    """Refuse a place for the page, before any question, that is none or of another file in use.

    Raises:
        InputError: It cannot be written.
        InvalidRequest: It is one of the others, or what is there is no such page.
    """
    if any(same_file(path, each) for each in others):
        raise InvalidRequest(f"{path}: is the questions or the answers; name another --report")
    refuse_foreign(path, _is_page, what="report")


def _is_page(data: bytes) -> bool:
    start = f"<title>{_TITLE}</title>\n<style>".encode()
    return data.startswith(b"<!doctype html>") and start in data[:1000]


def groups(answers: Sequence[Json]) -> list[Group]:
    """The answers by the documents they are limited to, in the order of the file."""
    by_scope: dict[tuple[str, ...], list[Json]] = {}
    titles: dict[tuple[str, ...], str] = {}
    for number, answer in enumerate(answers, 1):
        scope = tuple(one["id"] for one in answer["documents"])
        names = [one["title"] for one in answer["documents"]]
        if not scope and answer["document"]:  # no such document
            scope, names = ("", answer["document"]), [answer["document"]]
        by_scope.setdefault(scope, []).append({**answer, "number": number})
        titles[scope] = ", ".join(names) or EVERYTHING
    return [Group(titles[scope], tuple(each)) for scope, each in by_scope.items()]


def pieces(answer: Json) -> Iterator[Piece]:
    """The text of an answer, cut at its own markers and around what no quote supports."""
    known = {citation["marker"] for citation in answer["citations"]}
    own = {each.start for each in marker_spans(answer["answer"], answer["mode"])}
    offset = 0
    for text, unsupported in _split(answer["answer"], answer["unsupported"]):
        at = 0
        for match in MARK.finditer(text):
            number = int(match[1]) if match[1] else None
            doubt = number is None and not unsupported and answer["mode"] == "free"
            if doubt or (number in known and offset + match.start() in own):
                yield Piece(text[at : match.start()], unsupported=unsupported)
                yield Piece(match[0], marker=number, doubt=number is None)
                at = match.end()
        yield Piece(text[at:], unsupported=unsupported)
        offset += len(text)


def quote_emphasis(quote: Json, answer: Json) -> Emphasis:
    """A quote of an answer, in which its short answer stands out if it lies there."""
    short = answer.get("short")
    if not short or short["marker"] != quote["marker"]:
        return Emphasis(quote["quote"])
    start = quote["start"]
    return emphasis(quote["quote"], short["start"] - start, short["end"] - start)


def _split(text: str, sentences: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The text cut around these sentences, found one after another."""
    at = 0
    for sentence in sentences:
        start = text.find(sentence, at)
        if sentence and start >= 0:
            yield text[at:start], False
            at = start + len(sentence)
            yield text[start:at], True
    yield text[at:], False


def _settings(answers: Sequence[Json]) -> dict[str, str]:
    """The settings of the first answer, for the foot of the page."""
    if not answers:
        return {}
    settings = answers[0]["settings"]
    generator, encoder = settings["generator"], settings["encoder"]
    several = len({answer["fingerprint"].partition("-")[0] for answer in answers}) > 1
    return {
        "answers": "verbatim quotes" if generator["answer"] == "quote" else "generated",
        **({"language model": generator["model"]} if generator["model"] else {}),
        "encoder": encoder.get("model", ""),
        "documents per answer": f"at most {settings['k']}",
        "rag-app": settings["version"],
        **({"note": "some answers were made with other settings"} if several else {}),
    }
