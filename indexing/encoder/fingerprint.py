"""How vectors were made, and the refusal of vectors that were made in another way."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote

from indexing.errors import EncoderMismatch

WITHIN_MODEL = ("none", "pcw")  # extensions that leave the model as it is
FOREIGN = "langchain:"  # begins the model of vectors that no encoder of this program has made


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """How vectors were made. Two vectors may be compared only if their fingerprints are equal."""

    model: str
    revision: str
    extension: str
    max_length: int
    pooling: str
    dtype: str
    dimension: int

    def as_dict(self) -> dict[str, str | int]:
        """Field names to values, for the store and for people."""
        return asdict(self)


def refuse_foreign(stored: Fingerprint | None, folder: Path) -> None:
    """Refuse to look for an encoder of vectors that a person's own embeddings have made.

    Raises:
        EncoderMismatch: They have; the message names them and the ways out.
    """
    if stored is None or not stored.model.startswith(FOREIGN):
        return
    embeddings = stored.model.removeprefix(FOREIGN)
    raise EncoderMismatch(
        f"{folder}: a vector store made in Python with {embeddings}; open it there, "
        "rag_app.langchain.RagAppVectorStore(embeddings, corpus=...), or to search and ask "
        f"it here, encode it again: rag-app index --reencode --corpus {quote(str(folder))}"
    )


def check_fingerprint(stored: Fingerprint | None, requested: Fingerprint, folder: Path) -> None:
    """Refuse vectors that were made in another way.

    Raises:
        EncoderMismatch: The fingerprints differ; the message names the fields and the way out.
    """
    if stored is None or stored == requested:
        return
    old, new = asdict(stored), asdict(requested)
    differing = [name for name in old if old[name] != new[name]]
    differences = ", ".join(f"{name} {old[name]} here, {new[name]} asked for" for name in differing)
    flags = [f"--encoder {quote(requested.model)}", f"--extension {quote(requested.extension)}"]
    flags += [f"--max-length {requested.max_length}"] if "max_length" in differing else []
    flags += [f"--dtype {requested.dtype}"] if "dtype" in differing else []
    raise EncoderMismatch(
        f"{folder}: encoded in another way ({differences}); to encode it again, run: "
        f"rag-app index --reencode --corpus {quote(str(folder))} {' '.join(flags)}"
    )
