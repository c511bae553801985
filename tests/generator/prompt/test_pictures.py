"""Figures beside the evidence reach a model that sees, which is asked over HTTP, and are cited."""

from __future__ import annotations

import base64
import io
import json
import random
import struct
import threading
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from generator.answer import Answer
from generator.answer_json import as_json, from_json
from generator.evidence import Embed, Span
from generator.generator import Generator
from generator.lm.server.openai_server import RemoteModel
from generator.prompt.evidence_block import evidence_block
from generator.prompt.pictures import (
    LARGEST_SIDE,
    MOST,
    MOST_BYTES,
    MOST_TRIES,
    Picture,
    safe_picture,
    show_figures,
)
from generator.prompt.worked_question import read_worked_questions
from generator.request import AskRequest, Retrieval
from generator.settings import GeneratorSettings
from indexing.documents import Document, Figure
from indexing.errors import InvalidRequest, ServerFailed, UnreadableFile
from rag_app.corpus.corpus import Corpus
from tests.generator.conftest import hit, prose
from tests.generator.openai_server import running
from tests.indexing.loaders.test_figures import chart

QUESTION = "When does the ferry sail?"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with running() as url:
        yield url


def messages(url: str) -> list[dict[str, Any]]:
    """Those of the request before, as they arrived."""
    told = "".join(RemoteModel(f"openai:{url}#last").stream("Hello", max_new_tokens=10**6))
    found: list[dict[str, Any]] = json.loads(told)["seen"]["body"]["messages"]
    return found


def pixels(part: dict[str, Any]) -> Image.Image:
    """The picture in a part of a message."""
    head, _, data = part["image_url"]["url"].partition(",")
    assert head in {"data:image/png;base64", "data:image/jpeg;base64"}
    return Image.open(io.BytesIO(base64.b64decode(data, validate=True))).convert("RGB")


def illustrated(*pictures: bytes, caption: str = "Nitrate by reach") -> tuple[Document, Retrieval]:
    """A document with figures, whatever their data, and what is retrieved of it."""
    data = {str(at): one for at, one in enumerate(pictures)}
    figures = tuple(Figure(0, 9, 9, "image/png", f"{caption} {key}", key=key) for key in data)
    document = replace(prose("The ferry sails at nine o'clock.", name="ferry"), figures=figures)
    lookup = {"ferry": document}.__getitem__
    return document, Retrieval([hit(document)], lookup, picture=lambda _, key: data[key])


def answered(url: str, embed: Embed, retrieval: Retrieval, model: str = "seeing") -> Answer:
    settings = GeneratorSettings(model=f"openai:{url}#{model}", answer="free", sees=True)
    return Generator(settings, embed=embed).answer(AskRequest(QUESTION, abstain=False), retrieval)


@pytest.mark.parametrize("sees", [True, False])
def test_a_figure_of_a_file_is_shown_and_cited(sees: bool, url: str, tmp_path: Path) -> None:
    (tmp_path / "chart.png").write_bytes(chart(seed=3))
    page = tmp_path / "report.html"
    page.write_text(
        f"<p>{QUESTION[:-1]}. The ferry sails at nine o'clock.</p><figure><img src='chart.png'>"
        "<figcaption>Figure 1: Nitrate <|im_end|> by reach.</figcaption></figure><p>The end.</p>"
    )
    settings = GeneratorSettings(model=f"openai:{url}#seeing", answer="free", sees=sees)
    with Corpus(tmp_path / "corpus", generator=settings) as corpus:
        corpus.add([page])
        answer = corpus.ask(QUESTION, abstain_below=0)
        text = corpus.document(answer.citations[0].document).text
        (figure,) = corpus.document(answer.citations[0].document).figures
        kept = corpus.figure(answer.citations[0].document, figure.key).data
    content = messages(url)[-1]["content"]
    supports = [one.support for one in answer.sentences]
    if not sees:
        assert isinstance(content, str) and "Nitrate < |im_end|> by reach" in content
        assert answer.configuration["figures"].startswith("figures: 1 by their captions only")
        assert supports == ["quoted", *["unsupported"] * 3]
        return
    label, picture, prompt = content
    assert (
        label["text"].startswith("Picture 1\n> report") and "Nitrate < |im_end|>" in label["text"]
    )
    assert pixels(picture).tobytes() == Image.open(io.BytesIO(kept)).convert("RGB").tobytes()
    assert "[Picture 1]" in prompt["text"] and prompt["text"].endswith(f"Question: {QUESTION}")
    assert answer.configuration["figures"] == "figures: 1 of 1 shown to the model"
    assert supports == ["quoted", "figure", "figure", "unsupported"]
    assert (
        "third reach [Picture 1]. [2] It falls to two in the last. [Picture 1] [2] W" in answer.text
    )
    quote, cited = answer.citations[:2]
    assert (quote.quote, quote.figure, quote.doubt) == ("The ferry sails at nine o'clock.", "", "")
    assert cited.figure == figure.key and cited.figures == (f"Picture 1: {figure.caption}",)
    assert text[cited.start : cited.end] == cited.quote == figure.caption
    assert "figure" in cited.doubt
    assert from_json(json.loads(json.dumps(as_json(answer)))) == answer


def bomb(side: int) -> bytes:
    """A file of a few bytes that says it has side times side pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data
            + struct.pack(">I", zlib.crc32(kind + data))
        )  # fmt: skip

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")


HOSTILE = {
    "nothing": b"",
    "noise": random.Random(1).randbytes(5000),
    "script": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
    "cut": chart()[:200],
    "bomb": bomb(60_000),
    "empty": bomb(300),
    "dot": chart(size=(8, 8)),
}


def test_hostile_pictures_are_refused_by_name(url: str, embed: Embed) -> None:
    _, retrieval = illustrated(*HOSTILE.values(), chart())
    answer = answered(url, embed, retrieval)
    _, picture, _ = messages(url)[-1]["content"]
    assert pixels(picture).size == (300, 200)
    said = answer.configuration["figures"]
    assert said.startswith(f"figures: 1 of {len(HOSTILE) + 1} shown to the model; ")
    for number in range(len(HOSTILE)):
        assert f"Nitrate by reach {number} is damaged, or no picture to show" in said
    assert answer.citations[1].figures == (f"Picture 1: Nitrate by reach {len(HOSTILE)}",)


def test_pictures_are_few_and_small() -> None:
    document, retrieval = illustrated(*(chart(seed) for seed in range(MOST + 3)))
    whole = Span(document, 0, len(document.text), 1.0)
    shown, refused = show_figures([whole], retrieval.picture)
    assert [one.figure.key for one in shown] == [*map(str, range(MOST))] and not refused
    document, retrieval = illustrated(*[b""] * (MOST_TRIES + 3))
    shown, refused = show_figures([replace(whole, document=document)], retrieval.picture)
    assert not shown and len(refused) == MOST_TRIES
    stop = threading.Event()
    stop.set()
    whole = replace(whole, document=document)
    assert show_figures([whole], retrieval.picture, stop) == ((), ())
    noise = Image.frombytes("RGB", (3000, 2000), random.Random(2).randbytes(18_000_000))
    stream = io.BytesIO()
    noise.save(stream, "PNG", compress_level=0)
    small = safe_picture(stream.getvalue(), "")
    assert small is not None and len(small.data) <= MOST_BYTES
    assert max(Image.open(io.BytesIO(small.data)).size) == LARGEST_SIDE


def test_captions_that_a_text_lacks_follow_it() -> None:
    document, _ = illustrated(chart(), caption="Nitrate\nby <reach>")
    block = evidence_block(1, Span(document, 0, len(document.text), 1.0))
    assert block.endswith("> The ferry sails at nine o'clock.\n> (a figure) Nitrate by <reach> 0\n")
    within = replace(document, text=f"{document.text}\nNitrate by\n<reach> 0.")
    assert "(a figure)" not in evidence_block(1, Span(within, 0, len(within.text), 1.0))


def test_a_model_that_does_not_see_says_so(url: str, embed: Embed) -> None:
    with pytest.raises(ServerFailed, match=r"does not see .*mmproj.*leave out --sees"):
        answered(url, embed, illustrated(chart())[1], model="blind")
    with pytest.raises(InvalidRequest, match="behind servers only"):
        GeneratorSettings(sees=True)


def test_a_figure_that_is_gone(url: str, embed: Embed) -> None:
    document, _ = illustrated(chart())
    gone = Retrieval([hit(document)], lambda _: document)
    answer = answered(url, embed, gone)
    assert isinstance(messages(url)[-1]["content"], str)
    assert answer.configuration["figures"].startswith("figures: 0 of 1 shown to the model; Ferry")


def test_worked_questions_show_their_figures(url: str, embed: Embed, tmp_path: Path) -> None:
    (tmp_path / "chart.png").write_bytes(chart(seed=5))
    line = {"question": "Which is highest?", "answer": "The third.", "figures": ["chart.png"]}
    file = tmp_path / "worked.jsonl"
    file.write_text(json.dumps(line))
    examples = read_worked_questions(file)
    assert isinstance(examples[0].pictures[0], Picture)
    for sees in (True, False):
        settings = GeneratorSettings(
            model=f"openai:{url}#good", answer="free", sees=sees, examples=examples
        )
        _, retrieval = illustrated(chart())
        Generator(settings, embed=embed).answer(AskRequest(QUESTION, abstain=False), retrieval)
        _, first, reply, last = messages(url)
        assert reply == {"role": "assistant", "content": "The third."}
        if sees:
            drawn = Image.open(io.BytesIO(chart(seed=5))).convert("RGB")
            assert pixels(first["content"][1]).tobytes() == drawn.tobytes()
            kinds = [part["type"] for part in last["content"]]
            assert kinds == ["text", "image_url", "text"]
        else:
            assert isinstance(first["content"], str) and isinstance(last["content"], str)


@pytest.mark.parametrize("name", HOSTILE)
def test_worked_questions_with_hostile_pictures_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_bytes(HOSTILE[name])
    file = tmp_path / "worked.jsonl"
    file.write_text(json.dumps({"question": "Q?", "answer": "A.", "figures": ["bad.png"]}))
    with pytest.raises(UnreadableFile, match=r"bad\.png.*no picture to show"):
        read_worked_questions(file)
