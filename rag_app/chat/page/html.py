"""HTML of the page, rendered from templates that escape every value.

Document text, file names and questions enter HTML only here, so that nothing in them can become
markup.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from generator.answer import NOT_SAID, Answer
from generator.overview.overview import Overview
from indexing.documents import Hit, clock
from indexing.errors import RagAppError
from indexing.filter import Filter
from indexing.message import N_
from indexing.models.server.server_name import is_remote
from indexing.store.collections import DEFAULT, Collection
from indexing.store.view import DocumentEntry
from indexing.text.disfluency import without_noise
from indexing.walk import IN_FOLDERS, SUPPORTED
from rag_app.chat.conversation import Conversation, Exchange
from rag_app.chat.document_list import ListedDocument
from rag_app.chat.language import current as language
from rag_app.chat.language.catalogue import translations
from rag_app.chat.language.current import gettext, ngettext
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.model_choice import ModelChoice, ServerModels
from rag_app.chat.page.quote_context import (
    QuoteContext,
    citation_context,
    citation_place,
    location,
    span_context,
)
from rag_app.chat.page.segments import paragraphs
from rag_app.chat.upload_records import UploadStatus
from rag_app.chat.viewer.recording import TYPES
from rag_app.chat.web.file_names import file_name
from rag_app.chat.welcome.suggestions import FirstLook
from rag_app.corpus.reader import CorpusReader

LENGTH_WORDS = (
    ("short", N_("Short: one quote, or a sentence or two")),
    ("usual", N_("As the question needs")),
    ("long", N_("Long: every quote that may answer")),
)
FORM_WORDS = (
    ("usual", N_("Sentences, or quotes in full")),
    ("words", N_("Only the words that answer, where some stand out")),
    ("list", N_("A list: a point or a quote a line")),
)
SHAPES = (("length", N_("Length"), LENGTH_WORDS), ("form", N_("Form"), FORM_WORDS))
MAX_LISTED = 2000  # documents in the list; the search view finds the others


@cache
def templates() -> Environment:
    """The templates of this folder, with what they may call."""
    environment = Environment(
        loader=PackageLoader("rag_app.chat.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(
        count=language.count,
        decimal=language.decimal,
        percent=language.percent,
        seconds=lambda value: f"{language.decimal(value, 2 if value < 10 else 0)} s",
        day=language.day,
        near_day=language.near_day,
        moment=_moment,
        left=language.duration,
        model=model_label,
        file=file_name,
        translated=translated,
        place=translated,
        abstention=_abstention,
    )
    environment.globals.update(
        _=_message,
        _n=_message_of_number,
        in_stage=_in_stage,
        paragraphs=paragraphs,
        location=location,
        citation_place=citation_place,
        read=_tokens_read,
    )
    return environment


def _message(message: str, **values: object) -> Markup:
    """A message of a template with its values, every one of them escaped."""
    text = Markup(gettext(message))  # noqa: S704 - messages are the project's own
    return text % values if values else text


def _message_of_number(one: str, many: str, number: int, **values: object) -> Markup:
    """The same of a message about so many things."""
    text = translations(language.current().code).ngettext(one, many, number)
    return Markup(text) % {"num": language.count(number), **values}  # noqa: S704


def _shown(value: object) -> object:
    """What a template writes for a value: text without noise such as "{vocalsound}"."""
    if not isinstance(value, str) or "{" not in value:
        return value
    return type(value)(without_noise(value))


def render(name: str, **values: object) -> str:
    """A template with its values, every one of them escaped."""
    return templates().get_template(name).render(values)


def conversation(before: Conversation, *, busy: bool = False, checks: bool = False) -> str:
    """The complete exchanges, oldest first; nothing while the first is in progress.

    `checks` offers to check the positions of evidence, which is for engineers.
    """
    return render("conversation.html", exchanges=before.exchanges, busy=busy, checks=checks)


def welcome(latest: DocumentEntry | None, look: FirstLook, *, samples: bool) -> str:
    """What there is to be asked about, before the first question."""
    about = look.about
    return render(
        "welcome.html",
        latest=latest,
        about=about,
        length=clock(about.seconds) if about else None,
        questions=look.questions,
        samples=samples,
    )


def live(exchange: Exchange, number: int) -> str:
    """The exchange in progress."""
    return render("live.html", exchange=exchange, number=number, checks=False)


def sources(corpus: CorpusReader, source: Conversation, *, asking: bool = False) -> str:
    """The quotes of every answer, in their context where that may be seen.

    While another question is being answered (`asking`), no quotes are shown before any are chosen,
    and neither where the last answer was stopped or failed.
    """
    answers = [
        (
            number,
            exchange.answer,
            [
                (each, citation_context(corpus, each, short=exchange.answer.short))
                for each in (*exchange.answer.citations, *exchange.answer.closest)
            ],
        )
        for number, exchange in enumerate(source.exchanges)
        if exchange.answer is not None
    ]
    shown = -1 if asking else len(source.exchanges) - 1
    return render("sources.html", answers=answers, shown=shown)


def conversations(all_: Sequence[Conversation], open_: str) -> str:
    """The list of conversations."""
    rated = sum(bool(each.rating) for one in all_ for each in one.exchanges)
    return render("conversations.html", conversations=all_, open=open_, rated=rated)


def model_label(name: str) -> str:
    """The name of a language model as people know it: without its server or folder."""
    if is_remote(name):
        return name.partition("#")[2] or name
    return name.rstrip("/").rsplit("/", 1)[-1] or name


def answering(models: ModelChoice, person: str | None, shape: Mapping[str, str]) -> str:
    """The dialog on how answers are made: their length and form, and the model that writes."""
    refusal = translated(models.refusal(person))
    local = () if refusal else models.local()
    return render(
        "answering.html",
        shapes=[
            (name, gettext(title), shape[name], [(one, gettext(words)) for one, words in choices])
            for name, title, choices in SHAPES
        ],
        current=models.current,
        refusal=refusal,
        local=local,
        current_apart=all(one.name != models.current for one in local),
        keys=models.keys_kept(),
        made=datetime.now(UTC).isoformat(),
    )


def server_models(servers: Sequence[ServerModels], current: str) -> str:
    """The models of servers, to choose from."""
    return render("server_models.html", servers=servers, current=current)


def collections(
    all_: Sequence[Collection],
    selection: Sequence[str],
    person: str | None,
    *,
    documents: int = 0,
    chosen: int = 0,
) -> str:
    """The collections that a person may read, with the selected ones marked, and a way to one more.

    No list where there is no other than that of everybody, in which all is that names none. Without
    documents there is nothing to collect; a new collection begins with those chosen.
    """
    listed = all_ if any(one.name != DEFAULT for one in all_) else ()
    return render(
        "collections.html",
        collections=listed,
        selection=frozenset(selection),
        person=person,
        makes=bool(listed or documents),
        chosen=chosen,
        default=DEFAULT,
    )


def documents(
    listed: Sequence[ListedDocument],
    selection: Sequence[str],
    *,
    named: bool = False,
    limited: bool = False,
) -> str:
    """The list of documents, given oldest first, with the selected ones marked.

    It says in which collections each is (`named`), or that they are of the selected ones
    (`limited`).
    """
    latest = list(reversed(listed))
    return render(
        "documents.html",
        listed=latest[:MAX_LISTED],
        total=len(listed),
        selection=frozenset(selection),
        named=named,
        limited=limited,
    )


def overview(about: Overview) -> str:
    """The overview of a document, in a dialog that the page opens."""
    return render(
        "overview.html",
        about=about,
        length=clock(about.seconds),
        made=datetime.now(UTC).isoformat(),  # a second one of the same document opens too
    )


def uploads(all_: Sequence[UploadStatus]) -> str:
    """Uploaded files on their way into the corpus."""
    finished = [each for each in all_ if each.over and each.stage not in {"failed", "cancelled"}]
    open_ = sorted((each for each in all_ if each not in finished), key=_needs_nobody)
    return render("uploads.html", uploads=all_, open=open_, finished=finished, sums=_sums(all_))


def _abstention(text: str) -> str:
    """An answer; that the documents say nothing, in the reader's language."""
    return translated(text) if text == NOT_SAID else text


def _in_stage(stage: str, number: int) -> str:
    """How many uploads are at a stage, such as "2 added"."""
    if stage == "exists":
        return ngettext("%(num)s to decide", "%(num)s to decide", number)
    return f"{language.count(number)} {translated(stage)}"


def _needs_nobody(upload: UploadStatus) -> bool:
    """False for one that failed or asks something: it is listed first."""
    return upload.stage not in {"failed", "exists"}


def _sums(all_: Sequence[UploadStatus]) -> list[tuple[str, int]]:
    """How many uploads are at each stage, where there are several."""
    counts = Counter(each.stage for each in sorted(all_, key=_needs_nobody))
    return list(counts.items()) if len(all_) > 1 else []


def dropzone(max_bytes: int) -> str:
    """The area where files are dropped."""
    limit = f"{language.count(round(max_bytes / (1 << 20)))}\xa0MB"
    return render(
        "dropzone.html",
        kinds=SUPPORTED,
        in_folders=IN_FOLDERS,
        recordings=", ".join(TYPES),
        limit=limit,
    )


def hits(corpus: CorpusReader, ranking: Sequence[Hit], where: Filter | None = None) -> str:
    """Documents for a query, best first, each with its best passages."""
    pairs = [(hit, list(_passages(corpus, hit, where))) for hit in ranking]
    return render("hits.html", hits=pairs)


def _passages(corpus: CorpusReader, hit: Hit, where: Filter | None) -> Iterator[QuoteContext]:
    document = corpus.document(hit.document, where=where)
    speaker = where.speaker if where else None
    return (span_context(document, each.start, each.end, speaker=speaker) for each in hit.passages)


def notice(text: str, *, kind: str = "info") -> str:
    """A message of one line; its kind is "info" or "error"."""
    return render("notice.html", text=text, kind=kind)


def failure(error: RagAppError) -> str:
    """An error as a message of one line."""
    return notice(translated(str(error)), kind="error")


def _tokens_read(answer: Answer) -> tuple[int, int]:
    """Tokens read, and tokens of all documents in the context ledger."""
    entries = [entry for entry in answer.context if entry.document]
    return sum(entry.kept for entry in entries), sum(entry.tokens for entry in entries)


def _moment(when: str) -> str:
    """A day or a time in ISO 8601 as people write it."""
    time = when[11:]
    return f"{language.day(when)} {time}" if time else language.day(when)
