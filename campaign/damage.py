"""Damage to a corpus on disk: it is told, or answers are as before; never wrong ones in silence."""

from __future__ import annotations

import random
import shutil
from contextlib import closing
from pathlib import Path
from typing import Literal

from click.testing import CliRunner

from campaign.desk import Desk, content
from campaign.growth import damage_manifest
from campaign.result import Progress, Result
from indexing.documents import Hit
from indexing.encoder.encoder import Encoder
from indexing.errors import RagAppError
from indexing.store.store import FILE_NAME, Store
from rag_app.cli.main import main
from rag_app.corpus.corpus import Corpus
from rag_app.corpus.segments import INDEX, SUFFIX

QUERIES = ("Which probe fell into the lake?", "number 7")


Part = Literal["databases", "index files", "manifests"]


def attack(
    folder: Path, *, trials: int, seed: int, part: Part, progress: Progress | None = None
) -> Result:
    """Damage the database, files of the index or its manifest, and ask again."""
    result = Result(f"damaged {part}", trials, progress)
    desk, corpus = Desk(folder), folder / "damaged"
    shutil.copytree(desk.undisturbed, corpus)
    expected, truth = _hits(corpus, desk.encoder), content(corpus)
    shutil.rmtree(corpus)
    for trial in range(trials):
        shutil.copytree(desk.undisturbed, corpus)
        draw = random.Random(f"{seed}-{trial}")
        victim = draw.choice(_segments(corpus)) if part == "index files" else corpus / FILE_NAME
        if part == "manifests":
            damage_manifest(corpus, draw)
        else:
            damage(victim, draw)
        outcome = _outcome(desk, corpus, expected, truth)
        if outcome is None:
            what = f"damage, seed {seed}, trial {trial}, {victim.name}: wrong, or a traceback"
            result.fail(what)
        else:
            result.note(outcome)
        shutil.rmtree(corpus)
    return result


def damage(file: Path, draw: random.Random) -> None:
    """Overwrite a byte or a page, or cut the file short."""
    data = bytearray(file.read_bytes())
    at = draw.randrange(len(data)) if data else 0
    how = draw.choice(("byte", "byte", "page", "zeros", "cut"))
    if how == "cut":
        del data[at:]
    elif data:
        size = 1 if how == "byte" else min(4096, len(data) - at)
        data[at : at + size] = bytes(size) if how == "zeros" else draw.randbytes(size)
    file.write_bytes(bytes(data))


def _segments(corpus: Path) -> list[Path]:
    """The files that the manifest names."""
    with closing(Store(corpus)) as store:
        names = [entry.name for _, entry in store.index.manifest().segments]
    return [corpus / INDEX / f"{name}{SUFFIX}" for name in names]


def _outcome(desk: Desk, corpus: Path, expected: list[list[Hit]], truth: object) -> str | None:
    """How it ends; None when something is wrong and nobody says so."""
    noticed = CliRunner().invoke(main, ["verify", "--corpus", str(corpus)]).exit_code != 0
    try:
        found = _hits(corpus, desk.encoder)
    except RagAppError:
        return "told when opened or searched"
    except Exception:  # a traceback, to a person
        return None
    if found == expected and _holds(corpus, truth):
        return "answers as before, told by verify" if noticed else "answers as before"
    return "told by verify" if noticed else None


def _holds(corpus: Path, truth: object) -> bool:
    """Whether everything stored is what it was."""
    try:
        return content(corpus, verified=False) == truth
    except (RagAppError, TypeError, ValueError):  # numbers of rows, or types, that do not fit
        return False


def _hits(corpus: Path, encoder: Encoder) -> list[list[Hit]]:
    with Corpus(corpus, encoder=encoder) as opened:
        return [opened.search(query, k=20) for query in QUERIES]
