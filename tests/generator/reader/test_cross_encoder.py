"""The cross-encoder: heads by hand, padding without effect, its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoModel, MPNetConfig, MPNetModel

from generator.reader.cross_encoder import (
    Batch,
    CrossEncoder,
    load_cross_encoder,
)
from generator.reader.inputs import READER_WEIGHTS
from indexing.models.files import encoder_weights
from indexing.models.weight_changes import changes


@dataclass(frozen=True)
class Input:
    ids: tuple[int, ...]
    first: int
    places: tuple[tuple[int, int], ...]


SHORT = Input((101, 2043, 102, 1996, 8075, 102), 3, ((3, 5),))
LONG = Input((101, 2043, 1029, 102, 1996, 8075, 10948, 2012, 3157, 1012, 102), 4, ((4, 6), (6, 10)))


@cache
def reader() -> CrossEncoder:
    return load_cross_encoder()


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def test_padding_changes_nothing() -> None:
    both = reader()(Batch.of([SHORT, LONG]))
    for row, one in enumerate((SHORT, LONG)):
        alone = reader()(Batch.of([one]))
        width, count = len(one.ids), len(one.places)
        torch.testing.assert_close(both.starts[row, :width], alone.starts[0], atol=2e-4, rtol=0)
        torch.testing.assert_close(both.ends[row, :width], alone.ends[0], atol=2e-4, rtol=0)
        torch.testing.assert_close(both.relevant[row, :count], alone.relevant[0], atol=2e-4, rtol=0)
        assert float(both.answerable[row] - alone.answerable[0]) == pytest.approx(0, abs=2e-4)


def test_the_heads_are_what_they_are_said_to_be() -> None:
    logits = reader()(Batch.of([LONG]))
    states = (
        reader()
        .encoder(
            input_ids=torch.tensor([LONG.ids]),
            token_type_ids=torch.tensor([[0] * 4 + [1] * 7]),
        )
        .last_hidden_state[0]
    )
    span, relevant = reader().span, reader().relevant
    for token in (0, *range(4, 10)):
        start = float(span.weight[0] @ states[token] + span.bias[0])
        assert float(logits.starts[0, token]) == pytest.approx(start, abs=1e-3)
    assert (logits.starts[0, [1, 2, 3, 10]] < -1e3).all()
    mean = states[6:10].mean(0)
    assert float(logits.relevant[0, 1]) == pytest.approx(
        float(relevant.weight[0] @ mean + relevant.bias[0]), abs=1e-3
    )


def test_what_is_written_is_read_to_rounding(tmp_path: Path) -> None:
    torch.manual_seed(1)
    changed = CrossEncoder()
    packaged = {name: each.clone() for name, each in changed.tuned().items()}
    for each in changed.tuned().values():
        each.add_(torch.randn_like(each) / 50)
    save_file(changes(changed.tuned(), packaged), tmp_path / "reader.safetensors")
    again = load_cross_encoder(tmp_path / "reader.safetensors").tuned()
    for name, each in changed.tuned().items():
        step = (each - packaged[name]).abs().max() / 127
        assert float((again[name] - each).abs().max()) <= float(step) / 2 + 1e-6


def test_what_ships_is_small_and_tunes_no_embedding() -> None:
    assert READER_WEIGHTS.stat().st_size < 20_000_000
    packaged = AutoModel.from_pretrained(encoder_weights().folder, add_pooling_layer=False)
    words = packaged.embeddings.word_embeddings.weight
    assert torch.equal(reader().encoder.embeddings.word_embeddings.weight, words)
    layers = dict(packaged.named_parameters())
    changed = [
        name
        for name, each in reader().encoder.named_parameters()
        if not torch.equal(each, layers[name])
    ]
    assert changed and all(name.startswith("encoder.layer.") for name in changed)


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small encoder without token types, drawn at random."""
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("mpnet")
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "intermediate_size": 32}
    config = MPNetConfig(vocab_size=60, num_hidden_layers=2, max_position_embeddings=40, **sizes)
    MPNetModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


def test_an_encoder_without_token_types_gets_them_added(mpnet: Path) -> None:
    model = CrossEncoder(str(mpnet)).eval()
    assert model.types is not None
    ids = torch.tensor([[0, 9, 2, 11, 12, 2], [0, 9, 2, 11, 2, 1]])
    mask, types = (ids != 1).long(), torch.tensor([[0, 0, 0, 1, 1, 1]] * 2)
    plain = AutoModel.from_pretrained(mpnet, add_pooling_layer=False, attn_implementation="eager")
    own = plain(input_ids=ids, attention_mask=mask).last_hidden_state
    torch.testing.assert_close(model.states(ids, mask, types), own)
    model.types.weight.data[1] = torch.linspace(-1, 1, 16)
    plain.embeddings.register_forward_hook(
        lambda _, __, output: output + types[..., None] * torch.linspace(-1, 1, 16)
    )
    changed = plain(input_ids=ids, attention_mask=mask).last_hidden_state
    assert not torch.allclose(changed, own)
    torch.testing.assert_close(model.states(ids, mask, types), changed)


def test_adapters_of_a_file_are_merged(mpnet: Path, tmp_path: Path) -> None:
    model = CrossEncoder(str(mpnet))
    heads = {name: each.detach() for name, each in model.tuned().items() if "encoder." not in name}
    name = "encoder.encoder.layer.1.intermediate.dense"
    low = {f"{name}.a": torch.ones(1, 16), f"{name}.b": torch.arange(32.0)[:, None]}
    save_file({**heads, **low}, tmp_path / "reader.safetensors")
    found = load_cross_encoder(tmp_path / "reader.safetensors", str(mpnet))
    weight = model.get_parameter(f"{name}.weight")
    assert torch.equal(found.get_parameter(f"{name}.weight"), weight + torch.arange(32.0)[:, None])
    for head, value in heads.items():
        assert torch.equal(found.get_parameter(head), value)
