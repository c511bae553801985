"""The manifest of a corpus in shards: which state of each is searched. Swapped atomically."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from indexing.errors import CorpusDamaged
from rag_app.output_file import put_in_place

FORMAT = 1
FILE_NAME = "manifest.json"

MissingShards = Literal["fail", "answer"]
"""What becomes of a question when a shard is lost: it fails, or is answered from the others."""


@dataclass(frozen=True, slots=True)
class ShardState:
    """A shard as it was published."""

    name: str  # which shard
    generation: int  # of the publication that made this state
    stamp: str  # of its store, which no other state has
    documents: int  # how many it holds
    passages: int  # how many it holds


@dataclass(frozen=True, slots=True)
class ShardManifest:
    """What is published."""

    generation: int  # raised by every publication
    revision: str  # of the corpus's store, when it was published; "" before that
    shards: tuple[ShardState, ...]  # each with its state, by name
    # folders of the publication before, which a reader may be opening
    previous: tuple[str, ...] = ()
    ray: str = ""  # the address of the Ray cluster that searches them; "" for whoever asks
    replicas: int = 1  # actors of each shard there
    name: str = ""  # what the corpus is called on that cluster; "" where it is on none
    gpus: float = 0.0  # of each actor; 0 compares vectors on CPUs

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the states lie, beside the manifest."""
        return tuple(folder_of(one) for one in self.shards)

    @classmethod
    def read(cls, folder: Path) -> ShardManifest | None:
        """What a folder holds; None where the corpus is in one piece.

        Raises:
            CorpusDamaged: It cannot be read.
        """
        path = folder / FILE_NAME
        try:
            values = json.loads(path.read_text("utf-8"))
            if values["format"] != FORMAT:
                raise ValueError(f"format {values['format']}")
            return cls(
                int(values["generation"]),
                str(values["revision"]),
                tuple(ShardState(**one) for one in values["shards"]),
                tuple(values["previous"]),
                str(values["ray"]),
                int(values["replicas"]),
                str(values.get("name", "")),
                float(values.get("gpus", 0)),
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorpusDamaged(
                f"{path}: cannot be read ({error}); delete its folder, which holds nothing but "
                "what can be derived, and run: rag-app cluster init"
            ) from error

    def write(self, folder: Path) -> None:
        """Put it in the place of the one before, whole or not at all."""
        values = {"format": FORMAT, **asdict(self)}
        put_in_place(folder / FILE_NAME, json.dumps(values, indent=1), synced=True)


@dataclass(frozen=True, slots=True)
class Division:
    """How a corpus is to be divided."""

    shards: int  # into how many
    ray: str = ""  # the address of the Ray cluster that is to search them; "" for whoever asks
    replicas: int = 1  # actors of each shard there
    name: str = ""  # what the corpus is to be called there
    gpus: float = 0.0  # of each actor

    def placed(self, manifest: ShardManifest) -> ShardManifest:
        """A manifest with the place where its shards are to be searched."""
        return replace(
            manifest, ray=self.ray, replicas=self.replicas, name=self.name, gpus=self.gpus
        )


def folder_of(state: ShardState) -> str:
    """Where the state of a shard lies, beside the manifest."""
    return f"{state.name}/g{state.generation}"


def shard_of(document: str, names: Sequence[str]) -> str:
    """The shard that owns a document, by id: the one whose hash with the id is the highest.

    So a further shard takes its share from all others, and nothing moves among these (rendezvous
    hashing: Thaler and Ravishankar, IEEE/ACM Transactions on Networking, 1998).
    """
    return max(names, key=lambda name: hashlib.blake2b(f"{name}\0{document}".encode()).digest())
