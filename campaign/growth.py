"""A growing corpus disturbed at any moment: while it publishes, merges, or is brought over.

It is killed, or the disk is full, which a limit on the size of files looks like.

No encoder is part of it: vectors are drawn, so that most of a trial is what can be interrupted.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt

from campaign.result import Progress, Result
from indexing.encoder.fingerprint import Fingerprint
from indexing.encoder.pooling import EncodedDocument
from indexing.errors import RagAppError
from indexing.files import document
from indexing.index import merging
from indexing.index.snapshot import Snapshot
from indexing.store.migrations import MIGRATIONS
from indexing.store.repair.verification import verify
from indexing.store.store import FILE_NAME, Store
from indexing.text.chunking import split
from rag_app.corpus.segments import Segments
from rag_app.corpus.stores import Stores
from retriever.retriever import Retriever

D = 16
NAMES = [f"{number:02}.txt" for number in range(16)]
WORDS = ("probe", "lake", "fell", "into", "the", "of", "steel", "ferry", "Ana", "Bob", "und", "ist")
QUERIES = ("Which probe fell into the lake?", "Ana and the steel ferry", "of the")
KILLS_OF_ONE = 6  # before a corpus is begun anew

Operation = tuple[str, str]
"""A name, and the text that it has from now on; "" removes it."""


def full_disks(folder: Path, *, trials: int, seed: int, progress: Progress | None = None) -> Result:
    """So many processes that may write no file beyond a size while they index and merge.

    Every third may not while it commits documents, either.
    """
    merging.FACTOR = merging.SMALLEST = 2
    result, draw = Result("full disks while growing", trials, progress), random.Random(seed)
    corpus = folder / "full"
    for trial in range(trials):
        shutil.rmtree(corpus, ignore_errors=True)
        held = _begin(corpus, draw)
        if trial % 2:
            _make_old(corpus)
        largest = max(file.stat().st_size for file in corpus.rglob("*") if file.is_file())
        operations, size = [_draw(draw) for _ in range(40)], int(largest ** draw.uniform(0.5, 1.2))
        done, status = _disturbed(corpus, operations, size=size, always=trial % 3 == 0)
        complaint, _ = _complaint(corpus, [_after(held, operations[:done])])
        if complaint is None and status in {0, 1}:
            result.note("refused, nothing lost" if status else "had room for its documents")
        else:
            what = complaint or f"ended with {status} instead of an error"
            result.fail(f"growth, seed {seed}, trial {trial}: {what}")
    return result


def attack(folder: Path, *, trials: int, seed: int, progress: Progress | None = None) -> Result:
    """Kill so many processes; each has the corpus that the one before has left."""
    merging.FACTOR = merging.SMALLEST = 2  # so that few documents are many
    result, draw = Result("kills while growing", trials, progress), random.Random(seed)
    corpus, kills, held, longest = folder / "grown", 0, dict[str, str](), 0.4
    while kills < trials:
        if kills % KILLS_OF_ONE == 0:
            shutil.rmtree(corpus, ignore_errors=True)
            held = _begin(corpus, draw)
            if kills % (2 * KILLS_OF_ONE) == 0:
                _make_old(corpus)
        operations = [_draw(draw) for _ in range(40)]
        done, status = _disturbed(corpus, operations, seconds=draw.uniform(0, longest))
        kills += (killed := status == -signal.SIGKILL)
        longest *= 1.02 if killed else 0.9
        states = [_after(held, operations[:count]) for count in (done, done + 1)]
        complaint, held = _complaint(corpus, states)
        if complaint is None:
            result.note("killed, nothing lost" if killed else "ended before its kill")
        else:
            result.fail(f"growth, seed {seed}, trial {result.trials}: {complaint}")
    return result


def _begin(corpus: Path, draw: random.Random) -> dict[str, str]:
    operations = [_draw(draw) for _ in range(30)]
    with Stores(corpus).writing() as store:
        store.set_fingerprint(Fingerprint("drawn", "1", "none", 0, "mean", "float32", D))
        for operation in operations:
            _apply(store, operation)
    return _after({}, operations)


def _make_old(corpus: Path) -> None:
    """Let a corpus be as the version before segments left it."""
    with closing(Store(corpus)) as store:
        for table in ("segments", "unindexed", "outdated", "names", "occasions"):
            store.database.run(f"DROP TABLE {table}")
        for (trigger,) in store.database.rows(
            "SELECT name FROM temp.sqlite_schema WHERE type = 'trigger'"
        ):
            store.database.run(f"DROP TRIGGER {trigger}")
        store.database.run("DROP VIEW temp.current_checksums")
        store.database.run(MIGRATIONS[3][1])
        store.database.run("DELETE FROM facts WHERE name = 'listed'")
        store.database.run("PRAGMA user_version = 7")


def _draw(draw: random.Random) -> Operation:
    name = draw.choice(NAMES)
    if draw.random() < 0.25:
        return name, ""
    return name, "\n\n".join(
        f"{draw.choice(('Ana', 'Bob'))}: {' '.join(draw.choices(WORDS, k=draw.randint(2, 60)))}."
        for _ in range(draw.randint(1, 3))
    )


def _after(held: dict[str, str], operations: Sequence[Operation]) -> dict[str, str]:
    held = dict(held)
    for name, text in operations:
        held[name] = text
    return {name: text for name, text in held.items() if text}


def _apply(store: Store, operation: Operation) -> None:
    name, text = operation
    if not text:
        store.remove([document("x", name=name).id])
        return
    one = document(text, name=name)
    passages = split(one)
    own = _vectors([one.text[each.start : each.end] for each in passages])
    store.put(one, passages, EncodedDocument(_vectors([text])[0], own, 0, 0), added="now")


def _vectors(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """(n, D) unit vectors, the same for the same text."""
    drawn = np.stack([np.random.default_rng([*one.encode()]).standard_normal(D) for one in texts])
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), np.float32)


def _disturbed(
    corpus: Path,
    operations: Sequence[Operation],
    *,
    seconds: float | None = None,
    size: int = resource.RLIM_INFINITY,
    always: bool = False,
) -> tuple[int, int]:
    """Operations that a process has surely committed, and how it ended.

    Args:
        corpus: Where.
        operations: What it does.
        seconds: After which it is killed; None for never.
        size: Beyond which none of its files may grow while it indexes and merges.
        always: Nor while it commits documents.
    """
    read, write = os.pipe()
    process = os.fork()
    if not process:
        os._exit(_grow(corpus, operations, write, size, size if always else resource.RLIM_INFINITY))
    os.close(write)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    with os.fdopen(read, "rb") as pipe:
        return len(pipe.read()), status


def _grow(
    corpus: Path, operations: Sequence[Operation], told: int, indexing: int, committing: int
) -> int:
    """Commit, index and merge; a byte is told for each operation that is committed.

    No file may grow beyond a size while it indexes, nor beyond another while it commits. 1 after an
    error that a person can meet, 2 after any other.
    """

    def limit(size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    segments = Segments(corpus)
    try:
        with Stores(corpus).writing() as store:
            for number, operation in enumerate(operations):
                limit(committing)
                _apply(store, operation)
                os.write(told, b".")
                limit(indexing)
                if number % 2:
                    segments.refresh(store)
                if number % 9 == 8:
                    segments.merge(store, merging.all_of_them)
    except RagAppError:
        return 1
    except BaseException:  # a traceback, to a person
        return 2
    return 0


def _complaint(corpus: Path, states: Sequence[dict[str, str]]) -> tuple[str | None, dict[str, str]]:
    """What is wrong with a corpus that must be in one of these states, and what it holds."""
    with closing(Store(corpus)) as store:
        names = {document("x", name=name).id: name for name in NAMES}
        found = [store.document(one.id) for one in store.identities()]
        held = {names[one.id]: one.text for one in found}
        texts = [{n: document(t, name=n).text for n, t in state.items()} for state in states]
        if held not in texts:
            return f"holds {sorted(held)}", held
        if damages := verify(store.database):
            return str(damages[0]), held
        for when in ("as it was left", "after the next writer"):
            segments = Segments(corpus)
            with store.reading():
                grown, whole = segments.current(store), Snapshot.build(store)
                if any(_hits(store, grown, one) != _hits(store, whole, one) for one in QUERIES):
                    return f"other hits than in one piece, {when}", held
            with Stores(corpus).writing() as writing:
                segments.refresh(writing)
            if reason := segments.damage(store):
                return f"{reason}, {when}", held
        return None, held


def _hits(store: Store, snapshot: Snapshot, query: str) -> object:
    if not len(snapshot.document_rows):
        return []
    hits = Retriever(store, snapshot, _vectors).search(query, k=20, passages=9)
    return [(one, one.score.hex(), [each.score.hex() for each in one.passages]) for one in hits]


def damage_manifest(corpus: Path, draw: random.Random) -> None:
    """Change a row of the manifest, or lose one."""
    with closing(sqlite3.connect(corpus / FILE_NAME, isolation_level=None)) as database:
        rows = database.execute("SELECT number, entry FROM segments").fetchall()
        ((row,),) = database.execute("SELECT row FROM documents ORDER BY random() LIMIT 1")
        number, entry = draw.choice(rows)
        at = draw.randrange(len(entry))
        other = entry[:at] + draw.choice('0123456789abcdef"{}, ') + entry[at + 1 :]
        statement, values = draw.choice(
            [
                ("UPDATE segments SET entry = ? WHERE number = ?", (other, number)),
                ("UPDATE segments SET entry = ? WHERE number = ?", (entry[:at], number)),
                ("UPDATE segments SET number = number + 7 WHERE number = ?", (number,)),
                ("DELETE FROM segments WHERE number = ?", (number,)),
                ("INSERT OR REPLACE INTO outdated VALUES (?, ?)", (row, number)),
                ("DELETE FROM outdated", ()),
                ("INSERT OR IGNORE INTO unindexed VALUES (?)", (row,)),
                ("INSERT OR IGNORE INTO unindexed VALUES (?)", (row + 1000,)),
            ]
        )
        database.execute(statement, values)
