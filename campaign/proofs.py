"""Mutated proofs: none is accepted, by the program or by the script that ships with it.

Bytes of the file, words and numbers of the page only or of the JSON only; and evidence changed in
both, rendered and sealed again as by somebody who knows how: quotes, spans, what stands around
them, digests, and the spans of two citations swapped.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from campaign.fuzz import mutate
from campaign.result import Progress, Result
from rag_app.corpus.corpus import Corpus
from rag_app.proof.check_proof import END, MARK, faults
from rag_app.proof.proof import as_file, proof_of
from rag_app.proof.verdict import check_proof

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
FILES = ("heron-3-budget.srt", "heron-6-last-of-the-year.txt", "staff-handbook.html")
QUESTIONS = (
    "When is the launch?",
    "Why was the budget cut?",
    "How many days of leave do staff get?",
    "How much does the managing director of Tarnwick earn?",  # closest passages only
)
Json = dict[str, Any]
Mutation = Callable[[Json, bool, random.Random], bytes]


def attack(folder: Path, *, trials: int, seed: int = 0, progress: Progress | None = None) -> Result:
    """Write proofs of real answers, change them, and check each with program and script."""
    result = Result("proofs", trials, progress)
    with Corpus(folder / "corpus") as corpus:
        corpus.add([SAMPLES / name for name in FILES])
        proofs = [proof_of(corpus, corpus.ask(question)) for question in QUESTIONS]
        texts = {
            one["sha256"]: corpus.document(one["document"]).text
            for proof in proofs
            for one in proof["documents"]
        }
        whole = [(proof, page) for proof in proofs for page in (True, False)]
        for proof, page in whole:
            if any(wrong := checks(as_file(proof, page=page), texts, corpus, folder)):
                result.fail(f"a proof that nobody changed: {wrong}")
        for trial in range(trials):
            draw = random.Random(f"{seed}-{trial}")
            proof, page = draw.choice(whole)
            name = draw.choice([one for one in MUTATIONS if page or one != "page only"])
            changed = original = as_file(proof, page=page)
            while changed == original:
                changed = MUTATIONS[name](proof, page, draw)
            if all(checks(changed, texts, corpus, folder)):
                result.note(f"{name}: rejected")
            else:
                result.fail(f"trial {trial} of seed {seed}: {name}: accepted")
    return result


def checks(
    data: bytes, texts: dict[str, str], corpus: Corpus, folder: Path
) -> tuple[Sequence[str], Sequence[str]]:
    """What the script finds wrong, and what the program does."""
    file = folder / "proof"
    file.write_bytes(data)
    try:
        wrong = faults(data, texts)
    except Exception as error:  # as the script itself does
        wrong = [repr(error)]
    return wrong, check_proof(file, corpus=corpus).faults


def _bytes(proof: Json, page: bool, draw: random.Random) -> bytes:
    return mutate(as_file(proof, page=page), draw)


def _page_only(proof: Json, page: bool, draw: random.Random) -> bytes:
    """Another word or number between the tags of the page."""
    body, mark, data = as_file(proof, page=page).decode().partition(MARK)
    places = [one.span() for one in re.finditer(r"(?<=>)[^<>{}]+(?=</)", body)]
    start, end = draw.choice(places)
    other: str = _other(body[start:end], draw)
    return (body[:start] + other + body[end:] + mark + data).encode()


def _json_only(proof: Json, page: bool, draw: random.Random) -> bytes:
    """Another value in the JSON, anywhere."""
    head, mark, data = as_file(proof, page=page).decode().rpartition(MARK)
    values = json.loads(data.removesuffix(END))
    places = list(_leaves(values))
    within, key = draw.choice(places)
    within[key] = _other(within[key], draw)
    changed = json.dumps(values, indent=1).replace("<", "\\u003c")
    return (head + mark + changed + (END if page else "")).encode()


def _sealed_again(change: Callable[[list[Json], Json, random.Random], None]) -> Mutation:
    """A mutation of the evidence that is written as a proof is."""

    def changed(proof: Json, page: bool, draw: random.Random) -> bytes:
        copy: Json = json.loads(json.dumps(proof))
        change([*copy["citations"], *copy["closest"]], copy, draw)
        return as_file(copy, page=page)

    return changed


def _quote(quotes: list[Json], _: Json, draw: random.Random) -> None:
    one, name = draw.choice(quotes), draw.choice(("quote", "before", "after"))
    one[name] = _other(one[name], draw)


def _span(quotes: list[Json], _: Json, draw: random.Random) -> None:
    one, step = draw.choice(quotes), draw.choice((-1000, -7, -1, 1, 3, 250, 10**9))
    for name in draw.choice((("start",), ("end",), ("start", "end"))):
        one[name] += step


def _digest(_: list[Json], proof: Json, draw: random.Random) -> None:
    one = draw.choice(proof["documents"])
    one["sha256"] = _other(one["sha256"], draw)


def _swapped(quotes: list[Json], _: Json, draw: random.Random) -> None:
    first, second = draw.sample([*quotes, *quotes], 2)
    if first is second:
        _quote(quotes, {}, draw)
    for name in draw.choice((("document",), ("start", "end"), ("quote",))):
        first[name], second[name] = second[name], first[name]
    if first["document"] == second["document"]:  # then swapping documents has changed nothing
        first["quote"], second["quote"] = second["quote"], first["quote"]


MUTATIONS: dict[str, Mutation] = {
    "bytes": _bytes,
    "page only": _page_only,
    "JSON only": _json_only,
    "quotes, sealed again": _sealed_again(_quote),
    "spans, sealed again": _sealed_again(_span),
    "digests, sealed again": _sealed_again(_digest),
    "swapped, sealed again": _sealed_again(_swapped),
}


def _leaves(values: Any) -> Any:  # noqa: ANN401 - of JSON
    """Each place of a value that holds no others."""
    for key, one in values.items() if isinstance(values, dict) else enumerate(values):
        if isinstance(one, dict | list) and one:
            yield from _leaves(one)
        else:
            yield values, key


def _other(value: Any, draw: random.Random) -> Any:  # noqa: ANN401 - of JSON
    """Another value of the same kind, often a near one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + draw.choice((-1, 1, 10, 0.5))
    if not isinstance(value, str) or not value:
        return "x"
    at = draw.randrange(len(value))
    return (
        value[:at]
        + draw.choice("0159 aeinot<>&é") * draw.randrange(2)
        + value[at + 1 :]
        + (" " if len(value) == 1 else "")
    )
