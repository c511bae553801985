"""Mutated files of every format: each gives sound documents or a reason, and the next is read."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from campaign.result import Progress, Result
from campaign.seed_files import CONTAINERS, seeds
from indexing.documents import Document
from indexing.files import FileReader
from indexing.limits import MIB, FileLimits
from indexing.loaders.charset import clean
from indexing.text.chunking import LONG, split
from indexing.walk import Failure

LIMITS = FileLimits(seconds=20, memory=1024 * MIB)
LIMITED = ("takes more than", "holds more than", "crashes the program")
TOKENS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\x85", b"\xe2\x80\xa8"),
    *(b"<", b"&#13;", b"]]>", b"{", b'"', b"-->", b"\n\n", b"99999999999", b"-1", b"00:00:00,000"),
    *(b"endobj", b"stream\n", b"/Length 9", b"PK\x03\x04", b"WEBVTT", b"\xd7\x90", "東京".encode()),
)


def mutate(data: bytes, draw: random.Random) -> bytes:
    """The data with one to eight changes: bytes, spans, tokens that formats give a meaning to."""
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 4, 8))):
        draw.choice(CHANGES)(changed, draw)
    return bytes(changed)


def _flip(data: bytearray, draw: random.Random) -> None:
    if data:
        data[draw.randrange(len(data))] = draw.randrange(256)


def _cut(data: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(data) + 1)
    del data[start : start + draw.choice((1, 5, 50, 500, len(data)))]


def _repeat(data: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(data) + 1)
    span = data[start : start + draw.choice((1, 10, 100))]
    data[start:start] = span * draw.choice((1, 2, 300))


def _insert(data: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(data) + 1)
    data[start:start] = draw.choice(TOKENS) * draw.choice((1, 1, 3, 200))


def _noise(data: bytearray, draw: random.Random) -> None:
    start = draw.randrange(len(data) + 1)
    data[start : start + draw.choice((0, 20))] = draw.randbytes(draw.randrange(1, 40))


CHANGES: tuple[Callable[[bytearray, random.Random], None], ...]
CHANGES = (_flip, _flip, _cut, _repeat, _insert, _noise)


def mutant(suffix: str, data: bytes, draw: random.Random) -> bytes:
    """A mutated file; of a ZIP container often a part within it, so that the archive is sound."""
    if suffix not in CONTAINERS or draw.random() < 0.3:
        return mutate(data, draw)
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        victim = draw.choice((CONTAINERS[suffix], *old.namelist()))
        for part in old.namelist():
            held = old.read(part)
            new.writestr(part, mutate(held, draw) if part == victim else held)
    return packed.getvalue()


def complaints(entries: list[Document | Failure]) -> Iterator[str]:
    """What breaks a promise about what reading a file gives."""
    if not entries:
        yield "nothing was found, and nothing said"
    for entry in entries:
        if isinstance(entry, Failure):
            if not entry.reason or not entry.remedy or "\n" in str(entry):
                yield f"not one line of reason and remedy: {entry!s}"
        else:
            yield from _unsound(entry)


def _unsound(document: Document) -> Iterator[str]:
    text = document.text
    if clean(text) != text:
        yield "the text holds what no text may hold"
    utterances = [(each.start, each.text_start, each.end) for each in document.utterances]
    for spans in (utterances, [(page.start, page.end) for page in document.pages]):
        offsets = [0, *(at for span in spans for at in span), len(text)]
        if any(one > other for one, other in pairwise(offsets)):
            yield f"spans out of order or beyond the text: {spans}"
    passages = split(document)
    covered = "".join("".join(text[each.start : each.end].split()) for each in passages)
    if covered != "".join(text.split()):
        yield "passages that do not cover the text"
    if any(each.end - each.start > 200 * LONG for each in passages):
        yield "a passage too long"


def attack(folder: Path, *, trials: int, seed: int, progress: Progress | None = None) -> Result:
    """Read so many mutated files, each in turn of the formats."""
    result = Result("mutated files", trials, progress)
    originals = list(seeds().items())
    with FileReader(LIMITS) as reader:
        for trial in range(trials):
            suffix, data = originals[trial % len(originals)]
            path = folder / f"mutant{suffix}"
            path.write_bytes(mutant(suffix, data, random.Random(f"{seed}-{trial}")))
            entries = reader.read(path)
            if wrong := list(complaints(entries)):
                result.fail(f"fuzz, seed {seed}, trial {trial}, {suffix}: {'; '.join(wrong)}")
            else:
                result.note(_outcome(entries))
    return result


def _outcome(entries: list[Document | Failure]) -> str:
    if any(isinstance(entry, Document) for entry in entries):
        return "read"
    reasons = [entry.reason for entry in entries if isinstance(entry, Failure)]
    limited = any(reason.startswith(LIMITED) for reason in reasons)
    return "stopped by a limit, reported" if limited else "refused with a reason"
