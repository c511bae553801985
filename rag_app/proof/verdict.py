"""Whether a proof holds: by the script that ships with it, and by what only this program knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from generator.answer import NOT_SAID
from indexing.documents import Document
from indexing.errors import DocumentNotFound, UnreadableFile
from rag_app.proof.check_proof import END, MARK, faults
from rag_app.proof.standing import place_at

if TYPE_CHECKING:
    from generator.answer import Answer, Citation
    from rag_app.corpus.corpus import Corpus

Json = dict[str, Any]
Originals = Mapping[str, Document]
"""Documents by the SHA-256 of their text."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the check of a proof found.

    Attributes:
        faults: What does not hold; none if it is as it was written and its quotes stand.
        quotes: How many quotes it has, those of passages that only come close included.
        placed: How many of them were compared by speaker, time and page too, as the originals have
            these: a text alone has not.
        unquoted: Lines or sentences of the answer that are no verbatim quote, or have more than who
            says it before theirs, as a line of a list has; nothing checks these words.
    """

    faults: tuple[str, ...]
    quotes: int = 0
    placed: int = 0
    unquoted: int = 0

    @property
    def holds(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.faults


def check_proof(
    path: str | Path,
    originals: Iterable[str | Path] = (),
    *,
    corpus: Corpus | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Verdict:
    """Check a proof against the documents that it quotes.

    Whatever is wrong with the file of the proof is a fault, not an error.

    Args:
        path: The proof, a page or JSON.
        originals: Files and folders, read as `Corpus.add` reads them.
        corpus: Where documents are looked for besides.
        progress: Called with the number of originals read, and their total.

    Raises:
        UnreadableFile: The proof cannot be read.
    """
    from generator.answer_json import from_json

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UnreadableFile.by_system(path, error) from error
    try:
        proof = json.loads(data.decode().rpartition(MARK)[2].removesuffix(END))
        found = dict(_of_files(originals, progress)) | dict(_of_corpus(proof, corpus))
        answer = from_json(proof)
        placed = list(_placed(proof, found))
        texts = {sum_: one.text for sum_, one in found.items()}
        wrong = [*_missing(proof, found), *faults(data, texts)]
        wrong += [*_misplaced(placed), *_misquoted(answer)]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return Verdict(("it is no proof of rag-app, or not the whole file",))
    quotes = len(answer.citations) + len(answer.closest)
    return Verdict(tuple(wrong), quotes, len(placed), _unquoted(answer))


def _of_files(
    originals: Iterable[str | Path], progress: Callable[[int, int], None] | None
) -> Iterator[tuple[str, Document]]:
    """The documents of files; what `rag-app show` prints of one ends with a line feed more."""
    from indexing.files import FileReader
    from indexing.walk import walk

    with FileReader() as reader:
        files = [one for one in walk([Path(one) for one in originals]) if isinstance(one, Path)]
        for done, file in enumerate(files, 1):
            for document in reader.read(file):
                if isinstance(document, Document):
                    for text in (document.text, document.text.removesuffix("\n")):
                        yield _sum(text), document
            if progress:
                progress(done, len(files))


def _of_corpus(proof: Json, corpus: Corpus | None) -> Iterator[tuple[str, Document]]:
    """The documents of a corpus by the ids that a proof gives, or with the same content."""
    if corpus is None:
        return
    with corpus.reading() as now:
        ids = {digest: id_ for digest, (id_, _) in now.store.digests().items()}
    for one in proof["documents"]:
        try:
            document = corpus.document(ids.get(one["digest"], str(one["document"])))
        except DocumentNotFound:
            continue
        yield _sum(document.text), document


def _sum(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _missing(proof: Json, found: Originals) -> Iterator[str]:
    """Documents whose text is not there: gone, or changed since."""
    for one in proof["documents"]:
        if one["sha256"] not in found:
            yield f"none of the originals has the text of {one['title']!r}"


def _placed(proof: Json, found: Originals) -> Iterator[tuple[Json, Document]]:
    """The quotes of documents that are there with the same utterances and pages."""
    known = {one["document"]: one for one in proof["documents"]}
    for one in [*proof["citations"], *proof["closest"]]:
        document = found.get(known[one["document"]]["sha256"])
        if document and document.digest == known[one["document"]]["digest"]:
            yield one, document


def _misplaced(placed: Iterable[tuple[Json, Document]]) -> Iterator[str]:
    """Quotes that stand on another page, at another time or under another speaker's label."""
    for one, document in placed:
        for name, value in place_at(document, one["start"]).items():
            if one.get(name) != value:
                yield f"quote [{one['marker']}]: {name} is {value!r}, not {one.get(name)!r}"


def _misquoted(answer: Answer) -> Iterator[str]:
    """Quotes that the answer does not say, and a short answer that is not in its quote."""
    said = [found[0] for _, found in _said(answer) if found]
    for one in answer.citations if answer.mode == "quote" else ():
        if one not in said:
            yield f"the answer does not say quote [{one.marker}]"
    if short := answer.short:
        quoted = [one for one in answer.citations if one.marker == short.marker]
        if not any(
            one.quote[max(short.start - one.start, 0) : short.end - one.start] == short.text
            for one in quoted
        ):
            yield "the words that answer do not stand in their quote"


def _said(answer: Answer) -> Iterator[tuple[str, tuple[Citation, str] | None]]:
    """The lines of an answer of quotes; each with its quote, and with more than who says it.

    A quote is the end of its line, whole or as the words that answer.
    """
    quotes = {f"{one.marker}]": one for one in answer.citations}
    short = answer.short
    for line in filter(str.strip, answer.text.split("\n")):
        words, _, marker = line.rpartition("[")
        words, one = words.strip(), quotes.get(marker)
        quote = " ".join(one.quote.split()) if one else ""
        if one and short and short.marker == one.marker and words == " ".join(short.text.split()):
            quote = words
        if one and quote and f" {words}".endswith(f" {quote}"):
            before = words.removesuffix(quote).strip()
            speaker = " ".join((one.speaker or "").split())
            yield line, (one, "" if before == f"{speaker}:" else before)
        else:
            yield line, None


def _unquoted(answer: Answer) -> int:
    """Lines of an answer of quotes that are more than one, or sentences in other words."""
    if answer.mode == "free":
        return sum(one.support != "quoted" for one in answer.sentences)
    return sum(line != NOT_SAID and (not found or bool(found[1])) for line, found in _said(answer))
