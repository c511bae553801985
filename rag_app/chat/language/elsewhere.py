"""Messages from outside the page: errors, notes, names of places and times.

Other packages speak English, to commands and programs too, and what they say is kept in files and
shown to several people. So a message is translated where it is shown: it is compared with the ones
below, whose `%(name)s` stand for any text. One that is not here stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from rag_app.chat.language.catalogue import ENGLISH
from rag_app.chat.language.current import REMEMBERED, current, gettext
from rag_app.chat.language.file_messages import FILE_MESSAGES
from rag_app.chat.language.later import N_

NOTHING_SAID = N_("The documents do not say.")

MESSAGES = (
    NOTHING_SAID,
    *FILE_MESSAGES,
    # Where a quote stands.
    N_("page %(number)s"),
    N_("slide %(number)s"),
    N_("%(sheet)s, row %(number)s"),
    N_("row %(number)s"),
    N_("mail %(number)s"),
    N_("read by OCR, %(share)s %% sure"),
    N_("%(place)s (read by OCR, %(share)s %% sure)"),
    N_("%(day)s, earlier"),
    N_("%(day)s, later"),
    N_("no date"),
    # What took how long.
    N_("search"),
    N_("evidence"),
    N_("read"),
    N_("context"),
    N_("load"),
    N_("write"),
    N_("first"),
    N_("total"),
    N_("the conversation"),
    N_("shard %(name)s is lost; documents not looked at: %(number)s"),
    N_(
        "shard %(name)s: no replica of it answers (%(reason)s); see which machines are there "
        "with: ray status; or search on this machine alone: rag-app cluster init --shards N, "
        "without --ray"
    ),
    # What is known of a citation, and of how a question was read.
    N_("says it in other words"),
    N_("may not support the sentence"),
    N_("read in a figure, which nothing checks"),
    N_("figures: %(number)s by their captions only, as the model does not see"),
    N_("figures: %(done)s of %(all)s shown to the model"),
    N_("%(figure)s is damaged, or no picture to show"),
    N_("%(figure)s is no longer there"),
    N_("file name"),
    N_("folder name"),
    N_("first lines"),
    N_("file"),
    N_("a question"),
    N_("a question about %(titles)s"),
    N_("%(kind)s; “%(written)s” read as “%(word)s”"),
    N_("%(kind)s, limited to %(limits)s"),
    N_("1 document %(limits)s"),
    N_("%(number)s documents %(limits)s"),
    N_("%(kind)s; no document %(limits)s answers it, so all were searched"),
    N_("a request for the list of %(kind)s"),
    N_("a request for every place that says so"),
    N_("a request to be told when “%(phrase)s” comes up"),
    N_("The number, as it is said"),
    N_(
        "About %(number)s places (%(low)s to %(high)s); %(places)s that may say it were found, "
        "%(first)s to %(last)s shown"
    ),
    N_(
        "Counted, as no place was found that says it: about %(number)s places (%(low)s to "
        "%(high)s); %(places)s that may say it were found, %(first)s to %(last)s shown"
    ),
    N_("documents"),
    N_("transcripts"),
    N_("a request for an overview of %(titles)s"),
    N_("a request for the speakers of %(titles)s"),
    N_("a greeting"),
    N_("thanks"),
    N_("a question about what the program is"),
    N_("a question about what the program can do"),
    N_("a request for a summary of many documents"),
    N_("a request for a new text"),
    N_("a count of the mentions of “%(phrase)s”"),
    N_("a count of the mentions of “%(phrase)s” in %(titles)s"),
    # In what form an answer is given.
    N_("as asked in the prompt"),
    N_("sentences: the packaged model writes no other"),
    N_("a quote a line"),
    N_("the words that answer"),
    N_("whole quotes, as no words stand out"),
    # Position checks.
    N_("reversed"),
    N_("best-first"),
    N_("best-last"),
    N_("best-within"),
    N_("ends"),
    N_("on"),
    N_("off"),
    N_("Ms-PoE %(state)s"),
    N_("on, as published"),
    N_("%(done)s of %(all)s"),
    N_("Ms-PoE: it needs the model's internals, which a server does not show"),
    # Measurements.
    N_("Waiting for another measurement to end"),
    N_("Preparing"),
    N_("Measuring with about %(number)s tokens of evidence, Ms-PoE %(state)s"),
    # Uploads.
    N_("waiting"),
    N_("reading"),
    N_("added"),
    N_("updated"),
    N_("unchanged"),
    N_("duplicate"),
    N_("cancelled"),
    N_("failed"),
    N_("stopped"),
    N_("%(file)s: %(reason)s; %(remedy)s"),
    N_("%(reason)s; %(remedy)s"),
    N_("is not a file name"),
    N_("rename the file"),
    N_("is of an unsupported type"),
    N_("upload %(kinds)s"),
    N_("is larger than %(limit)s"),
    N_("save it as sound alone"),
    N_("plays beside %(name)s"),
    N_("is not the recording that its name says"),
    N_("save it again as .mp3, .m4a or .mp4"),
    N_("check where it comes from"),
    N_("is a recording without a transcript, and speech in it is not recognised"),
    N_("upload its transcript as %(name)s.vtt, or in another format that has speakers or times"),
    N_("split it"),
    N_("is gone"),
    N_("upload it again"),
    N_("is empty"),
    N_("holds no text"),
    N_("remove it, or fetch it again"),
    N_("is binary, not text"),
    N_("remove it, or convert it to text first"),
    N_("is protected by a password"),
    N_("save a copy without the password (qpdf --decrypt --password=... in.pdf out.pdf)"),
    N_("is encrypted with AES"),
    N_("is a PDF without pages"),
    N_("is cut short: the end of the PDF is missing"),
    N_("is a damaged PDF (%(error)s)"),
    N_("fetch it again, or open it in a viewer and save it under another name"),
    N_("holds pictures of pages but no text"),
    N_("holds pictures but no text"),
    N_("holds no text, and none was recognised in its pictures"),
    N_("scan it again with more dots an inch, or remove it"),
    N_("is a damaged Word document"),
    N_("is a damaged presentation"),
    N_("is a damaged %(format)s"),
    N_("open it in its own program and save it again"),
    N_("%(file)s: cannot be saved (%(error)s); make room"),
    N_("failed unexpectedly (%(error)s); details: %(log)s"),
    # Documents and collections.
    N_("This document is no longer in the corpus."),
    N_("This document is no longer in the corpus, or no longer shared with you."),
    N_("This document has changed since this quote was taken from it."),
    N_("This document says something else here now."),
    N_("The file is no longer where it was. This is its text, as it was read."),
    N_("The file has changed since it was read. This is its text, as it was then."),
    N_("%(name)s: no such document here; see: rag-app list"),
    N_("%(title)s: is not yours to remove; ask whoever shares it"),
    N_("%(title)s: cannot be removed %(when)s"),
    N_("%(name)s: cannot be changed %(when)s"),
    N_("while documents are being added; try again later"),
    N_("this collection is not yours to share; ask its owner"),
    N_("%(name)s keeps names for everybody."),
    N_("Names are kept on the server (rag-app aliases)."),
    N_("a spelling has 1 to %(most)s characters and no %(mark)s"),
    N_("%(spelling)s: is of %(name)s already"),
    N_("%(spelling)s: is a name itself"),
    N_("remove that first"),
    N_("%(spelling)s: no alias; see: rag-app aliases"),
    N_("a document of somebody else is selected; select only your own"),
    N_("%(name)s: there is a collection of this name; give another"),
    N_("%(name)s: no name for a collection; give 1 to %(most)s visible characters on one line"),
    # Questions, filters and conversations.
    N_("a question has at most %(number)s characters"),
    N_("the question is empty; ask something"),
    N_("%(number)s questions are waiting; try again in a minute"),
    N_("nothing is since %(since)s and until %(until)s; swap them"),
    N_("%(value)s is no date; write it as 2026-03-14, 2026-03 or 2026"),
    N_("No document matches: %(limits)s."),
    N_("since %(since)s"),
    N_("until %(until)s"),
    N_("since %(since)s, until %(until)s"),
    N_("of %(period)s"),
    N_("with %(names)s"),
    N_("%(limits)s, with %(names)s"),
    N_("dated %(period)s"),
    N_("files like %(path)s"),
    N_("files like %(path)s, %(limits)s"),
    N_("spoken by %(name)s"),
    N_("spoken by %(name)s, %(limits)s"),
    N_("among those named, %(limits)s"),
    N_("%(nothing)s Those with a date are of %(period)s."),
    N_("%(nothing)s Those with a date are of %(first)s to %(last)s."),
    N_("%(nothing)s 1 has no date."),
    N_("%(nothing)s %(number)s have no date."),
    N_("only a complete answer can be checked; ask again first"),
    N_("this conversation is waiting for an answer; stop it, or wait until it is done"),
    N_("this conversation has changed in another window; look at it as it is now, then try again"),
    N_("this conversation was deleted; choose another"),
    N_("not a valid browser key; reload the page"),
    N_("no such conversation; choose one from the list"),
    N_(
        "%(name)s: the conversation cannot be saved (%(error)s); free disk space, or check the "
        "folder's permissions"
    ),
    N_("the answer failed unexpectedly (%(error)s); details: %(log)s; try again"),
    N_("the check failed unexpectedly (%(error)s); details: %(log)s; try again"),
    # The model that writes.
    N_("a model is being tested; wait until that is over"),
    N_("you may not choose the model. %(reason)s"),
    N_("It was named when the server was started (--generator)."),
    N_("It is named when the server is started (--generator)."),
    N_("%(name)s: the choice cannot be kept (%(error)s); check the folder's permissions"),
    N_("%(name)s chooses it for everybody."),
    N_("%(name)s is no address; write http://localhost:11434/v1"),
    N_("%(address)s: no server of models is at such an address; name its machine"),
    N_("%(address)s: http would send the key for all to read; write https://"),
    N_("%(address)s: no such machine is known; correct the address"),
    N_(
        "%(name)s is no model on this machine; choose one of the list, or write the whole path of "
        "its folder or .gguf file"
    ),
    N_(
        "%(folder)s: cannot be written (%(error)s); make room there, or name a folder with more of "
        "it in RAG_APP_CACHE"
    ),
    # Of servers of models.
    N_(
        "%(server)s did not answer in time (%(number)s s); see whether the server is busy or "
        "still loading, then ask again"
    ),
    N_(
        "%(server)s cannot be reached (%(error)s); start the server, or correct the address "
        "after openai:"
    ),
    N_("%(server)s refuses the key (%(error)s); set RAG_APP_API_KEY, or give another key"),
    N_("%(server)s knows no %(model)s (%(error)s); look at %(address)s/models"),
    N_(
        "%(model)s at %(server)s reads no more than its context (%(error)s); give it less "
        "with --prompt-tokens, or start the server with a longer one"
    ),
    N_("%(model)s at %(server)s does not see (%(error)s); leave out --sees"),
    N_("%(server)s answered %(number)s (%(error)s); look at the server's log"),
    N_(
        "%(server)s answered what no OpenAI-compatible server would (%(error)s); correct the "
        "address after openai:"
    ),
    N_("%(server)s broke off (%(error)s); look at the server's log"),
    N_(
        "%(server)s sent no answer; see whether it is an OpenAI-compatible server, and "
        "whether the address ends as its documentation says (often /v1)"
    ),
    N_("%(model)s reads at most %(number)s tokens; choose fewer tokens"),
)


_PLAIN = frozenset(MESSAGES)


def translated(text: str) -> str:
    """A message of another package in the language that is spoken, itself where it is unknown."""
    code = current().code
    if code == ENGLISH or not text:
        return text
    return _known(code, text) or text


@lru_cache(maxsize=REMEMBERED)
def _known(code: str, text: str) -> str:
    """The same, for the language that is spoken now."""
    return _translated(text)


def _translated(text: str) -> str:
    """The translation; "" where the message, or a message within it, has none."""
    if text in _PLAIN:
        return gettext(text)
    for parted in re.finditer("; ", text):
        reason, remedy = _translated(text[: parted.start()]), _translated(text[parted.end() :])
        if reason and remedy:
            return gettext("%(reason)s; %(remedy)s", reason=reason, remedy=remedy)
    for message, pattern in _patterns():
        if match := pattern.fullmatch(text):
            values = match.groupdict()
            for name in _MESSAGES_WITHIN & values.keys():
                if not (inner := _translated(values[name])):
                    break
                values[name] = inner
            else:
                return gettext(message, **values)
    return ""


_FORMS = {
    **dict.fromkeys(("number", "share", "done", "all"), "[0-9.,]+"),
    **dict.fromkeys(("since", "until", "period", "first", "last"), "[0-9-]+"),
    "names": "[^.]+?",
    "suffix": r"\.\w+",
    "attachment": r".+?\.\w{1,5}",
    **dict.fromkeys(("reason", "remedy", "kind", "error", "log"), ".+?"),
}
"""What stands in a place that is not for any text without "; ", which parts two messages."""
_MESSAGES_WITHIN = frozenset(
    {
        *("reason", "remedy", "place", "kind", "state", "when", "limits", "nothing", "found"),
        *("wanted", "format", "verb", "why", "more"),
    }
)


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each message that has places to fill in, with what it looks like when they are filled in.

    Those with most text of their own come first.
    """
    return tuple(sorted(_compiled(), key=lambda pair: -len(re.sub(r"%\(\w+\)s", "", pair[0]))))


def _compiled() -> Iterator[tuple[str, re.Pattern[str]]]:
    for message in MESSAGES:
        parts = re.split(r"%\((\w+)\)s", message)
        if len(parts) > 1:
            form = "".join(
                rf"(?P<{part}>{_FORMS.get(part, '(?:(?!; ).)+?')})"
                if at % 2
                else re.escape(part.replace("%%", "%"))
                for at, part in enumerate(parts)
            )
            yield message, re.compile(form, re.DOTALL)
