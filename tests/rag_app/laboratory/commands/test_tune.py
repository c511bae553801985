"""`rag-app tune`, and encoders that take what it writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pytest
import torch
from click.testing import CliRunner, Result

from indexing.encoder.encoder import Encoder
from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest, UnreadableFile, UnsupportedModel
from indexing.extension import TunedPositions, build_method, extend
from rag_app.cli.main import main
from rag_app.cli.option_types import ExtensionName
from tests.indexing.extension.extension_models import WINDOW, build, text

pytest.importorskip("datasets")

LENGTH = 3 * WINDOW


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """Tiny matrices are slower on many threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models, `model` and `other`, and `texts`: eight files of 70 words."""
    folder = tmp_path_factory.mktemp("tune")
    for name, family in (("model", "bert"), ("other", "distilbert")):
        place = folder / name
        place.mkdir()
        model = build(family, place)
        model.tokenizer.save_pretrained(place / "whole")
    (folder / "texts").mkdir()
    for number in range(8):
        (folder / "texts" / f"{number}.txt").write_text(text(70, seed=number))
    return folder


def run(*words: object, status: int = 0) -> Result:
    result = CliRunner().invoke(main, list(map(str, words)))
    assert result.exit_code == status, result.output
    return result


def train(folder: Path, out: Path, *words: object, status: int = 0) -> Result:
    fixed = ("--encoder", folder / "model/whole", "--span-words", 12, "--batch-size", 4)
    length = ("--max-length", LENGTH, "--epochs", 2)
    return run("tune", folder / "texts", "--out", out, *length, *fixed, *words, status=status)


@pytest.fixture(scope="module")
def rows(folder: Path) -> Path:
    train(folder, folder / "rows.safetensors", "--learning-rate", 0.05)
    return folder / "rows.safetensors"


def settings(folder: Path, rows: Path, **values: object) -> EncoderSettings:
    plain = EncoderSettings(str(folder / "model/whole"), f"tuned:{rows}", dtype="float32")
    return replace(plain, **values)  # type: ignore[arg-type]


# ---- training ----


def test_what_is_printed(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "rows of mine"
    lines = train(folder, out).stdout.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["epoch 1", "epoch 2"]
    assert lines[2] == f"{out}: 64 rows trained, for windows of 96 tokens instead of 32"
    assert lines[3].startswith("no verdict: it takes 30 pieces of 72 words")
    assert lines[4].endswith(f"--extension 'tuned:{out}'") and len(lines) == 5


def test_json(folder: Path, tmp_path: Path) -> None:
    junk = tmp_path / "junk.pdf"
    junk.write_bytes(b"junk")
    result = train(folder, tmp_path / "rows", junk, "--json", status=3)
    values = json.loads(result.stdout)
    assert (values["documents"], values["window"], values["max_length"]) == (8, WINDOW, LENGTH)
    assert values["rows"] == 64 and len(values["losses"]) == 2
    assert len(values["failures"]) == 1 and "junk.pdf" in result.stderr
    assert values["verdict"] is None


def test_the_verdict_is_on_texts_that_were_held_out(folder: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text(text(30 * 72, seed=8))
    lines = train(folder, tmp_path / "rows", long, "--epochs", 1).stdout.splitlines()
    assert lines[2].startswith("verdict: of 48 queries from 6 pieces of text ")
    assert lines[2].count("%") == 3


def test_refusals_come_before_the_training(folder: Path, rows: Path, tmp_path: Path) -> None:
    before = rows.read_bytes()
    assert "give another --out" in train(folder, rows, status=1).stderr
    assert rows.read_bytes() == before
    assert "its folder does not exist" in train(folder, tmp_path / "no/rows", status=1).stderr
    short = train(folder, tmp_path / "rows", "--max-length", WINDOW, status=1)
    assert "longer max_length" in short.stderr
    assert not (tmp_path / "rows").exists()


# ---- use ----


def test_a_corpus_is_indexed_and_searched(folder: Path, rows: Path, tmp_path: Path) -> None:
    corpus = ("--corpus", tmp_path / "corpus")
    encoder = ("--encoder", folder / "model/whole", "--extension", f"tuned:{rows}")
    run("index", folder / "texts", *corpus, *encoder)
    fingerprint = json.loads(run("info", *corpus, "--json").stdout)["fingerprint"]
    assert fingerprint["max_length"] == LENGTH
    assert fingerprint["extension"] == TunedPositions(rows).pinned()
    query = text(70, seed=3)
    hits = json.loads(run("search", query, "--ranking", "dense", *corpus, "--json").stdout)
    assert hits[0]["path"].endswith("3.txt")
    run("index", folder / "texts", *corpus, *encoder)  # the same file by its plain name
    other = run("index", folder / "texts", *corpus, *encoder[:2], "--extension", "pi", status=1)
    assert "encoded in another way" in other.stderr


def test_a_corpus_refuses_another_file_of_that_name(
    folder: Path, rows: Path, tmp_path: Path
) -> None:
    own = tmp_path / "rows"
    own.write_bytes(rows.read_bytes())
    corpus = ("--corpus", tmp_path / "corpus")
    encoder = ("--encoder", folder / "model/whole", "--extension", f"tuned:{own}")
    run("index", folder / "texts", *corpus, *encoder)
    own.unlink()
    gone = run("search", "w1", *corpus, status=1).stderr
    assert "No such file" in gone and "put that file back, or encode the corpus again" in gone
    train(folder, own, "--seed", 1)
    assert "is not the file that the vectors" in run("search", "w1", *corpus, status=1).stderr
    with_it = run("index", folder / "texts", *corpus, *encoder, status=1)
    assert "encoded in another way" in with_it.stderr
    run("index", "--reencode", *corpus, *encoder)
    run("search", "w1", *corpus)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_encoder_reads_with_the_tuned_rows(folder: Path, rows: Path, dtype: str) -> None:
    tuned = Encoder(settings(folder, rows, dtype=dtype))
    pi = Encoder(settings(folder, rows, dtype=dtype, extension="pi", max_length=LENGTH))
    assert tuned.max_length == LENGTH
    short, long = text(20), text(80)
    vectors = [encoder.encode_queries([short, long]) for encoder in (tuned, pi)]
    np.testing.assert_allclose(vectors[0][0], vectors[1][0], atol=1e-6)
    assert np.abs(vectors[0][1] - vectors[1][1]).max() > 1e-2


def test_mismatches_are_refused(folder: Path, rows: Path) -> None:
    with pytest.raises(UnsupportedModel, match="tune them for this model: rag-app tune"):
        Encoder(settings(folder, rows, model=str(folder / "other/whole")))
    with pytest.raises(InvalidRequest, match="tuned for 96 tokens, not 64"):
        Encoder(settings(folder, rows, max_length=64))
    with pytest.raises(UnreadableFile, match="name a file that `rag-app tune` has written"):
        Encoder(settings(folder, folder / "missing"))
    with pytest.raises(InvalidRequest, match="names no file"):
        Encoder(settings(folder, Path(), extension="tuned:"))


def test_a_table_of_methods_takes_the_name(
    folder: Path, rows: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path))
    words = ["--task", "passkey", "--lengths", "64", "--documents", "3"]
    method = ("--method", f"tuned:{rows}/dense", "--encoder", folder / "model/whole")
    shown = run("evaluate", "table", *words, *method).stdout
    assert (
        "--method tuned:rows.safetensors/dense" in shown and str(folder) not in shown.split("\n")[0]
    )
    unknown = run("evaluate", "table", *words, "--method", "tuned:/dense", status=1).stderr
    assert "no method" in unknown and "tuned:FILE" in unknown


def test_an_extended_model_takes_the_name(folder: Path, rows: Path) -> None:
    model = build("bert", folder)
    assert extend(model, f"tuned:{rows}").max_seq_length == LENGTH
    with pytest.raises(InvalidRequest, match="give max_length"):
        build_method("pi")


def test_the_option() -> None:
    option = ExtensionName()
    assert option.convert("tuned:a b", None, None) == "tuned:a b"
    assert option.convert("pi", None, None) == "pi"
    for wrong in ("tuned:", "tuned", "magic"):
        with pytest.raises(click.BadParameter):
            option.convert(wrong, None, None)
    assert "|self-extend|NAME+entropy|tuned:FILE]" in run("index", "--help").stdout
