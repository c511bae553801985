"""What aliases give back of the evidence that misheard names lose, on copies of the samples.

Each name that the sample questions mention is misspelled as it may be heard, in another way in each
document (seeded); then the questions are asked of the documents as they are, of the copies, and of
the copies with aliases: all that are true, or those proposed. What is counted is the gold evidence
that the answers cite, and that the passages found hold.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from indexing.documents import Document
from indexing.files import FileReader, document
from indexing.text.language import ENGLISH
from rag_app.cli.options import print_result, with_json
from rag_app.corpus.corpus import Corpus
from rag_app.progress import track
from retriever.spelling import frequency

SAMPLES = Path(__file__).resolve().parents[1] / "data" / "samples"
_CAPITAL = re.compile(r"(?<=[\w,] )[A-Z][^\W\d_]{3,}")
_HEARD = (
    ("ph", "f"), ("f", "ph"), ("ck", "k"), ("k", "ck"), ("c", "k"), ("s", "z"), ("z", "s"),
    ("d", "t"),
    ("t", "d"), ("b", "p"), ("v", "f"), ("w", "v"), ("ei", "ie"), ("ee", "ea"), ("ea", "ee"),
    ("a", "e"), ("e", "i"), ("i", "e"), ("o", "u"), ("u", "oo"), ("y", "i"), ("h", ""), ("r", "rr"),
    ("l", "ll"), ("n", "nn"), ("m", "mm"), ("ll", "l"), ("rr", "r"), ("nn", "n"), ("ch", "sh"),
)  # fmt: skip

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shares:
    """Of the gold evidence, 0 to 1.

    Attributes:
        cited: That the answers cite.
        found: That the five best documents' three best passages hold.
    """

    cited: float
    found: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured.

    Attributes:
        questions: That mention a misspelled name.
        names: How many there are.
        spellings: How many were made of them.
        clean: Of the documents as they are.
        misheard: Of the copies, misspelled words of questions corrected as always.
        aliases: Of the copies, with all aliases that are true.
        proposed: Of the copies, with the proposals that are right.
        right: Proposals of two spellings of one name.
        wrong: Others, as "spelling: name".
        words: Words of the documents as they are that the aliases would read as names.
    """

    questions: int
    names: int
    spellings: int
    clean: Shares
    misheard: Shares
    aliases: Shares
    proposed: Shares
    right: int
    wrong: tuple[str, ...]
    words: tuple[str, ...]

    def closed(self, kind: str, after: Shares) -> float | None:
        """The share of the gap that is closed; None where there is none."""
        clean, before = getattr(self.clean, kind), getattr(self.misheard, kind)
        gap = clean - before
        return (getattr(after, kind) - before) / gap if gap > 0 else None


def misheard(name: str, draw: random.Random, known: set[str]) -> str:
    """A name with one or two slips of the ear; no word that is known or in a dictionary."""
    for _ in range(200):
        text = name.lower()
        for _slip in range(draw.choice((1, 1, 2))):
            places = [
                (at, a, b) for a, b in _HEARD for at in range(len(text)) if text.startswith(a, at)
            ]
            if places:
                at, a, b = draw.choice(places)
                text = text[:at] + b + text[at + len(a) :]
        heard = text.capitalize()
        if heard != name and len(text) > 2 and not {text} & known and not frequency(text, ENGLISH):
            return heard
    return name


def measure(seed: int, most: int | None = None) -> Outcome:
    """Misspell, index, and ask so many questions at most."""
    draw = random.Random(seed)
    whole = list(_documents())
    lines = (SAMPLES / name for name in ("questions.jsonl", "questions-2.jsonl"))
    asked = [json.loads(line) for file in lines for line in file.read_text("utf-8").splitlines()]
    asked = [one for one in asked if one["answerable"] and one["evidence"]]
    known = {word.lower() for one in whole for word in re.findall(r"[^\W\d_]+", one.text)}
    small = {word for one in whole for word in re.findall(r"[^\W\d_]+", one.text) if word.islower()}
    wanted = {word for one in asked for word in _CAPITAL.findall(one["question"])}
    names = sorted(word for word in wanted if word.lower() in known - small)
    maps = [
        {name: misheard(name, draw, known) for name in names if re.search(rf"\b{name}\b", one.text)}
        for one in whole
    ]
    by_file = {Path(one.path).name: spelled for one, spelled in zip(whole, maps, strict=True)}
    asked = [one for one in asked if any(re.search(rf"\b{n}\b", one["question"]) for n in names)]
    asked = asked if most is None else draw.sample(asked, min(most, len(asked)))
    true = {(heard, name) for each in maps for name, heard in each.items() if heard != name}
    copies = [_copy(one, spelled) for one, spelled in zip(whole, maps, strict=True)]
    with TemporaryDirectory() as folder:
        with Corpus(Path(folder) / "clean") as corpus:
            corpus.add_documents([_copy(one, {}) for one in whole])
            clean = _shares(corpus, asked, {}, "clean")
        with Corpus(Path(folder) / "copies") as corpus:
            corpus.add_documents(copies)
            before = _shares(corpus, asked, by_file, "misheard")
            found = corpus.aliases.propose(most=200)
            good = [one for one in found if _of_one(one.name, one.spelling, true)]
            groups = _groups([(one.name, one.spelling) for one in good])
            proposed = _with(corpus, groups, asked, by_file)
            for one in corpus.aliases.all().entries:
                corpus.aliases.remove(one.name)
            after = _with(corpus, [(name, heard) for heard, name in true], asked, by_file)
            spelled = corpus.aliases.all().spelled(one.text for one in whole)
    return Outcome(
        questions=len(asked),
        names=len(names),
        spellings=len(true),
        clean=clean,
        misheard=before,
        aliases=after,
        proposed=proposed,
        right=len(good),
        wrong=tuple(f"{one.spelling}: {one.name}" for one in found if one not in good),
        words=tuple(spelled),
    )


def _with(
    corpus: Corpus, pairs: Sequence[tuple[str, str]], asked: list[Json], by_file: dict[str, Any]
) -> Shares:
    for name, heard in sorted(pairs):
        corpus.aliases.add(name, heard)
    return _shares(corpus, asked, by_file, "aliases")


def _of_one(name: str, spelling: str, true: set[tuple[str, str]]) -> bool:
    """Whether two spellings are of one name, as it was written or heard."""
    owner = dict(true)
    return owner.get(name, name) == owner.get(spelling, spelling)


def _groups(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pairs of which no name is a spelling: those of one name come together under the first."""
    first: dict[str, str] = {}
    for name, spelling in pairs:
        a, b = first.setdefault(name, name), first.setdefault(spelling, spelling)
        first = {word: a if of == b else of for word, of in first.items()}
    return [(of, word) for word, of in first.items() if word != of]


def _documents() -> Iterator[Document]:
    with FileReader() as reader:
        for file in sorted(SAMPLES.iterdir()):
            if file.suffix != ".jsonl":
                yield from (one for one in reader.read(file) if isinstance(one, Document))


def _copy(one: Document, spelled: dict[str, str]) -> Document:
    return document(_spelled(one.text, spelled), name=one.path, title=one.title)


def _spelled(text: str, spelled: dict[str, str]) -> str:
    for name, heard in spelled.items():
        text = re.sub(rf"\b{name}\b", heard, text)
    return text


def _shares(corpus: Corpus, asked: list[Json], by_file: dict[str, Any], doing: str) -> Shares:
    cited = found = total = 0
    with track(asked, doing=doing) as questions:
        for one in questions:
            quoted = [(each.path, each.quote) for each in corpus.ask(one["question"]).citations]
            passages = [
                (hit.path, passage.text)
                for hit in corpus.search(one["question"], k=5, passages=3)
                for passage in hit.passages
            ]
            for gold in one["evidence"]:
                text = _spelled(gold["quote"], by_file.get(gold["path"], {}))
                total += 1
                cited += _touched(gold["path"], text, quoted)
                found += _touched(gold["path"], text, passages)
    click.echo(f"{doing}: cited {cited}, found {found} of {total}", err=True)  # long before the end
    return Shares(round(cited / total, 4), round(found / total, 4))


def _touched(path: str, gold: str, texts: Sequence[tuple[str, str]]) -> bool:
    """Whether one of the texts of a file holds the quote, or is held by it."""
    words = " ".join(gold.split())
    flat = [" ".join(text.split()) for at, text in texts if Path(at).name == path]
    return any(words in text or text in words for text in flat)


@click.command()
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--questions", type=click.IntRange(min=1), help="At most, drawn by the seed.")
@with_json
def command(seed: int, questions: int | None, as_json: bool) -> None:
    """Recall of evidence with misheard names, without aliases and with them."""
    done = measure(seed, questions)

    def show() -> None:
        click.echo(f"{done.questions} questions, {done.names} names, {done.spellings} spellings")
        for name in ("clean", "misheard", "aliases", "proposed"):
            shares: Shares = getattr(done, name)
            gaps = [done.closed(kind, shares) for kind in ("cited", "found")]
            of_gap = "" if name in {"clean", "misheard"} else f"; gap closed: {_percents(gaps)}"
            click.echo(f"{name}: cited {shares.cited:.1%}, found {shares.found:.1%}{of_gap}")
        click.echo(f"proposals: {done.right} right, {len(done.wrong)} wrong: {done.wrong}")
        click.echo(f"words read as names: {len(done.words)} {done.words}")

    print_result(as_json, asdict(done), show)


def _percents(shares: Sequence[float | None]) -> str:
    return ", ".join("no gap" if one is None else f"{one:.0%}" for one in shares)
