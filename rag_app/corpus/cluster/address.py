"""Where a corpus on a Ray cluster is: ray://HOST:PORT/NAME in, its folder out.

The cluster knows its corpora by their actors: the name of each begins with the name of its corpus
and says where the folder is. So nothing else has to be kept, and what is no longer there is not
known any more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from indexing.errors import CorpusNotFound, InvalidRequest
from rag_app.corpus.cluster.connection import NAMESPACE, connect

SCHEME = "ray://"
_NAME = re.compile(r"[\w.-]+")
_ADDRESS = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\s/:\[\]]+):(?P<port>\d{1,5})")


@dataclass(frozen=True, slots=True)
class CorpusAddress:
    """A corpus of a cluster."""

    cluster: str
    name: str

    @classmethod
    def of(cls, text: str) -> CorpusAddress:
        """Of ray://HOST:PORT/NAME.

        Raises:
            InvalidRequest: It has another form.
        """
        cluster, _, name = text.removeprefix(SCHEME).rstrip("/").partition("/")
        if not text.startswith(SCHEME) or not _ADDRESS.fullmatch(cluster) or not _is_name(name):
            raise InvalidRequest(
                f"{text}: no address of a corpus on a Ray cluster; write {SCHEME}HOST:PORT/NAME, "
                "with the name that was given by: rag-app cluster init --ray HOST:PORT --name NAME"
            )
        return cls(cluster, name)

    def __str__(self) -> str:
        return f"{SCHEME}{self.cluster}/{self.name}"

    def folder(self) -> Path:
        """Where the corpus lies on every machine of the cluster, this one among them.

        Raises:
            CorpusNotFound: The cluster does not know it, or the folder is not on this machine.
            InvalidRequest: No cluster answers at the address.
            MissingDependency: Ray is not installed.
        """
        corpora = known_corpora(connect(self.cluster))
        folder = corpora.get(self.name)
        if folder is None:
            others = f"it has {', '.join(sorted(corpora))}" if corpora else "it has none"
            raise CorpusNotFound(
                f"{self}: no corpus of that name on the cluster ({others}); name it there with: "
                f"rag-app cluster init --ray {self.cluster} --name {self.name} --shards N "
                "--corpus FOLDER; after the cluster was started again, ask once by its folder"
            )
        if not folder.is_dir():
            raise CorpusNotFound(
                f"{self}: its folder {folder} is not on this machine; a corpus on a cluster lies "
                "in a folder that all machines share under the same path"
            )
        return folder


def known_corpora(ray: Any) -> dict[str, Path]:  # noqa: ANN401 - Ray has types of its own
    """The folders of the corpora on a cluster, by name."""
    actors = ray.util.list_named_actors(all_namespaces=True)
    names = (one["name"].split("|") for one in actors if one["namespace"] == NAMESPACE)
    return {name: Path(unquote(folder)) for name, folder, *_ in names}


def actor_name(name: str, corpus: Path, shard: str, replica: int) -> str:
    """What the actor of a replica of a shard is called on its cluster."""
    return f"{name}|{quote(str(corpus))}|{shard}|{replica}"


def corpus_name(requested: str, folder: Path) -> str:
    """The name of a corpus on a cluster: the one requested, or that of its folder.

    Raises:
        InvalidRequest: It cannot be part of an address.
    """
    own = folder.parent.name if folder.name == ".rag-app" else folder.name
    name = requested or re.sub(r"[^\w.-]+", "-", own).strip("-") or "corpus"
    if not _is_name(name):
        raise InvalidRequest(
            f"{name!r}: no name for a corpus on a cluster; use letters, digits, '-', '_' and '.'"
        )
    return name


def require_free(ray: Any, name: str, corpus: Path) -> None:  # noqa: ANN401 - Ray has types of its own
    """Refuse a name that another corpus of the cluster has.

    Raises:
        InvalidRequest: Another has it.
    """
    other = known_corpora(ray).get(name, corpus)
    if other != corpus:
        raise InvalidRequest(
            f"{name}: the corpus in {other} has that name on the cluster; give another with --name"
        )


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None
