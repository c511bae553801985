"""`minilm-rope` is the packaged encoder with rotary positions, made from both files."""

import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoTokenizer, BertModel

from indexing.models.files import encoder_weights
from indexing.models.minilm import rotary_minilm
from indexing.models.minilm.rotary_minilm import ROTARY
from indexing.models.minilm.variant import WINDOW

TEXTS = (
    "The launch was moved from March to May because the supplier delivered late.",
    "Ada asked who would pay for the second prototype, and nobody answered.",
)


def test_positions_make_no_difference_to_what_is_renamed() -> None:
    """With one token, rotary and absolute models differ by the table's row alone."""
    folder = encoder_weights().folder
    weights = ROTARY.renamed(load_file(folder / "model.safetensors"))
    bert = BertModel.from_pretrained(folder, local_files_only=True).eval()
    rotary = AutoModel.from_config(rotary_minilm.configuration()).eval()
    rotary.load_state_dict(weights, strict=True)
    table = bert.embeddings.position_embeddings.weight.data
    table[:] = table[:WINDOW].mean(0)
    ids = torch.tensor([[2_000]])
    with torch.inference_mode():
        expected = bert(input_ids=ids).last_hidden_state
        found = rotary(input_ids=ids).last_hidden_state
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)


def test_its_vectors_are_near_those_of_the_packaged_encoder() -> None:
    """The file's own run measured 0.96 on held-out texts of this length."""
    vectors = []
    for name in ("all-MiniLM-L6-v2", "minilm-rope"):
        folder = encoder_weights(name).folder
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        inputs = tokenizer(list(TEXTS), padding=True, return_tensors="pt")
        with torch.inference_mode():
            states = model(**inputs).last_hidden_state
        mask = inputs["attention_mask"][..., None]
        vectors.append(torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1), dim=-1))
    near = (vectors[0] * vectors[1]).sum(-1)
    assert near.min() > 0.93
    assert (vectors[0][0] @ vectors[1][1]) < 0.5


def test_the_file_is_small() -> None:
    assert ROTARY.changes.stat().st_size < 15e6
