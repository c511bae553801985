"""An answer as a proof: its quotes with what stands around them, and the digests of their texts.

A proof is the answer's JSON (`generator.answer_json`) with `before` and `after` of each quote, the
`documents` that are quoted, the `models` that answered, and a `seal`: the SHA-256 of all the rest.
As a page it is HTML that says all of that, without scripts, and holds the JSON. How it is written
and what makes it true is in `check_proof.py`, which needs nothing of this program.
"""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from indexing.errors import InvalidRequest
from rag_app.output_file import refuse_foreign, write_whole
from rag_app.proof.check_proof import END, MARK, show
from rag_app.proof.standing import around

if TYPE_CHECKING:
    from generator.answer import Answer
    from generator.settings import GeneratorSettings
    from indexing.documents import Document
    from rag_app.corpus.shards.parts import CorpusView

Json = dict[str, Any]

ENDINGS = (".html", ".json")
SCRIPT = Path(__file__).with_name("check_proof.py")
HEAD = Path(__file__).with_name("head.html")
FIRST = ("question", "answer", "citations", "closest", "short", "configuration", "context")
_FIRST_OF_QUOTE = ("marker", "title", "place", "speaker", "time", "day", "before", "quote", "after")


class Answering(Protocol):
    """A corpus, as far as a proof needs it."""

    @property
    def generator_settings(self) -> GeneratorSettings:
        """How it answers."""

    def document(self, name: str) -> Document:
        """One of its documents, by id."""

    def reading(self) -> AbstractContextManager[CorpusView]:
        """All of it at one moment."""


def refuse(path: Path) -> None:
    """Refuse a place for a proof.

    Raises:
        InvalidRequest: It ends in neither .html nor .json, or what is there is no proof.
        InputError: It cannot be written.
    """
    if path.suffix not in ENDINGS:
        raise InvalidRequest(f"{path}: a proof ends in .html or .json; give it such a name")
    refuse_foreign(path, _is_proof, what="proof")


def _is_proof(data: bytes) -> bool:
    try:
        proof = json.loads(data.decode().rpartition(MARK)[2].removesuffix(END))
    except (ValueError, RecursionError):
        return False
    return isinstance(proof, dict) and "seal" in proof


def write_proof(corpus: Answering, answer: Answer, path: Path) -> None:
    """Write an answer with its evidence to a file, a page or JSON by its ending.

    Raises:
        InvalidRequest: The name ends in neither .html nor .json, another file has it, or a
            document has changed since.
        DocumentNotFound: A document that is quoted is no longer there.
        InputError: The file cannot be written.
    """
    refuse(path)
    write_whole(path, as_file(proof_of(corpus, answer), page=path.suffix == ".html"))


def as_file(proof: Json, *, page: bool) -> bytes:
    """The file of a proof, its seal added: a page, or JSON."""
    content = {name: value for name, value in proof.items() if name != "seal"}
    proof = {**content, "seal": sha256(json.dumps(content).encode()).hexdigest()}
    data = json.dumps(proof, indent=1).replace("<", "\\u003c")
    if page:
        data = f"{HEAD.read_text('utf-8')}<body>{show(proof)}{MARK}{data}{END}"
    return data.encode(errors="replace")


def proof_of(corpus: Answering, answer: Answer) -> Json:
    """An answer with its evidence as plain values; files by their names, without folders.

    Raises:
        InvalidRequest: A document has changed since.
        DocumentNotFound: A document that is quoted is no longer there.
    """
    from generator.answer_json import as_json

    ids = dict.fromkeys(one.document for one in (*answer.citations, *answer.closest))
    documents = {id_: corpus.document(id_) for id_ in ids}
    values: Json = dict(as_json(answer))
    for name in ("citations", "closest"):
        values[name] = [_quote(one, documents[one["document"]]) for one in values[name]]
    values |= {
        "documents": [_document(one) for one in documents.values()],
        "models": _models(corpus),
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return _known({name: values.pop(name) for name in FIRST} | values)


def _quote(values: Json, document: Document) -> Json:
    """A quote with what stands around it, its label in the text, and only the name of its file."""
    text, start, end = document.text, values["start"], values["end"]
    if text[start:end] != values["quote"]:
        raise InvalidRequest(f"{document.title}: has changed since the answer; ask again")
    del values["shown"]  # the quote again
    values |= {"path": Path(values["path"]).name, **around(document, start, end)}
    return _known({name: values.pop(name) for name in _FIRST_OF_QUOTE} | values)


def _document(document: Document) -> Json:
    """The digests of a document: of its text, and `digest`, of its utterances and pages too."""
    return {
        "document": document.id,
        "title": document.title,
        "characters": len(document.text),
        "sha256": sha256(document.text.encode()).hexdigest(),
        "digest": document.digest,
    }


def _models(corpus: Answering) -> Json:
    """Which program and models answer here; the language model is said by the answer."""
    from importlib.metadata import version

    from generator.parts import models_digest

    with corpus.reading() as now:
        fingerprint = now.store.fingerprint()
    assert fingerprint is not None, "an answer has been made"
    digest = models_digest(fingerprint, corpus.generator_settings.parts)
    return {"rag-app": version("rag-app"), "digest": digest, "encoder": fingerprint.as_dict()}


def _known(values: Json) -> Json:
    return {name: value for name, value in values.items() if value is not None}
