"""What a language model writes for questions whose answer is known: a line of JSON for each.

    python training/verifier/write_answers.py DATA/reading/train.jsonl.gz \
        --meetings DATA/qmsum/train.jsonl --model FILE.gguf --out written.jsonl

Of the articles and meetings that the reader and the verifier were not trained on: questions with an
answer, near misses and meetings' specific questions, in turn. The evidence has some 250 tokens. A
command that is stopped goes on where it was.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from verifier_data import MEETINGS, held_titles, passage_group

from generator.evidence import Evidence, Span
from generator.lm.gguf.llama_cpp import LlamaCppModel
from generator.prompt.builder import build_prompt
from indexing.documents import Document, Utterance
from indexing.text.terms import content_stems
from rag_app.batch.qmsum import Meeting, meetings
from rag_app.progress import track

_EVIDENCE = 1000  # characters
_ROOM = 900  # tokens of a prompt
_LONGEST = 70  # tokens of an answer
_CUT = re.compile(r"(?<=[.!?])\s")

Case = dict[str, Any]


@click.command()
@click.argument("data", type=click.Path(path_type=Path, exists=True))
@click.option("--meetings", "talks", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--model", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--most", default=300, show_default=True, help="Questions.")
def main(data: Path, talks: Path, model: Path, out: Path, most: int) -> None:
    """Write a line for each question: question, gold answers, evidence and answer."""
    rng = random.Random(0)
    kinds = [*_of_passages(data, rng), _of_meetings(talks, rng)]
    cases = [one for some in zip(*kinds, strict=False) for one in some][:most]
    done = len(out.read_text("utf-8").splitlines()) if out.is_file() else 0
    writer = LlamaCppModel(str(model), window=2048)
    with out.open("a", encoding="utf-8") as file, track(cases[done:], doing="Writing") as steps:
        for case in steps:
            prompt = build_prompt(
                case["question"],
                Evidence(tuple(spans_of(case["evidence"])), ()),
                chat=writer.chat,
                room=_ROOM,
                refusal=False,
            )
            pieces = writer.stream(prompt.ids, max_new_tokens=_LONGEST, stops=prompt.stops)
            file.write(json.dumps({**case, "answer": "".join(pieces)}) + "\n")
            file.flush()


def _of_passages(data: Path, rng: random.Random) -> tuple[list[Case], list[Case], list[Case]]:
    """Answerable questions, twice as many as near misses, a question a passage."""
    with gzip.open(data, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    held = held_titles(records)
    kept = [record for record in records if passage_group(record) in held]
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for record in kept:
        groups[passage_group(record)].append(record["text"])
    rng.shuffle(kept)
    by_source: dict[str, list[Case]] = defaultdict(list)
    near = []
    for record in kept:
        asked = [one for one in record["questions"] if one["answers"]]
        missing = [one for one in record["questions"] if not one["answers"]]
        if asked:
            case = _passage_case(record, rng.choice(asked), groups)
            by_source[record["source"]].append(case)
        if missing:
            near.append(_passage_case(record, rng.choice(missing), groups))
    answerable = [one for some in zip(*by_source.values(), strict=False) for one in some]
    return answerable[::2], near, answerable[1::2]


def _passage_case(
    record: Mapping[str, Any],
    question: Mapping[str, Any],
    groups: Mapping[tuple[str, str], Sequence[str]],
) -> Case:
    """A question with its passage, and the one most like it of the same article."""
    text, title = record["text"], record["title"]
    answers = [text[a:b] for a, b in question["answers"]]
    group = passage_group(record)
    words = set(content_stems(text))
    others = [one for one in groups[group] if one != text]
    others.sort(key=lambda one: -len(words & set(content_stems(one))))
    evidence = [{"title": title, "text": text[:_EVIDENCE]}]
    room = _EVIDENCE - len(text)
    if others and room > 300:
        ends = [each.start() for each in _CUT.finditer(others[0]) if each.start() < room]
        if ends:
            evidence.append({"title": title, "text": others[0][: ends[-1]]})
    kind = "question" if answers else "near miss"
    return {"kind": kind, "group": " ".join(group)[:100], "question": question["question"],
            "golds": answers, "evidence": evidence}  # fmt: skip


def _of_meetings(path: Path, rng: random.Random) -> list[Case]:
    """Specific questions of meetings left out, those of one meeting apart from each other."""
    held = [one for i, one in enumerate(meetings(path)) if i % MEETINGS == MEETINGS - 1]
    rng.shuffle(held)
    cases = []
    for number in range(9):
        for meeting in held:
            asked = [one for one in meeting.specific if one.utterances]
            if number < len(asked):
                question = asked[number]
                text = _stretch(meeting, question.utterances, f"{question.text} {question.answer}")
                evidence = [{"title": meeting.document.title, "text": text, "kind": "meeting"}]
                cases.append(
                    {"kind": "meeting", "group": meeting.document.title, "question": question.text,
                     "golds": [question.answer], "evidence": evidence}
                )  # fmt: skip
    return cases


def _stretch(meeting: Meeting, marked: Sequence[int], wanted: str) -> str:
    """Of the marked turns, the run of `_EVIDENCE` characters with most of what is wanted."""
    document = meeting.document
    lines = [document.text[one.start : one.end].strip() for one in document.utterances]
    stems = set(content_stems(wanted))

    def run(first: int) -> str:
        text = ""
        for number in range(first, len(lines)):
            if number not in marked or len(text) + len(lines[number]) > _EVIDENCE:
                break
            text += f"{lines[number]}\n"
        return text or f"{lines[first][:_EVIDENCE]}\n"

    return max((run(first) for first in marked), key=lambda one: len(stems & {*content_stems(one)}))


def spans_of(evidence: Sequence[Mapping[str, str]]) -> Iterator[Span]:
    """The evidence of a case; of a meeting, a line each utterance."""
    for number, one in enumerate(evidence):
        text = one["text"]
        turns = tuple(_turns(text)) if one.get("kind") == "meeting" else ()
        document = Document(str(number), f"{number}.txt", one["title"], "", "text", "", text, turns)
        yield Span(document, 0, len(text), 1.0 - number / 10)


def _turns(text: str) -> Iterator[Utterance]:
    for line in re.finditer(r"([^:\n]+): .+", text):
        yield Utterance(line.start(), line.end(), line.end(1) + 2, line[1])


if __name__ == "__main__":
    main()
