"""A model for one task by its name: resolved, checked by its architecture, loaded.

The architecture that a model's configuration states decides what it is for. Nothing is guessed, no
code of a model is run, and weights are safetensors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

from indexing.errors import ModelError, UnsupportedModel
from indexing.message import Notify
from indexing.models.device import best_device, best_dtype
from indexing.models.files import Weights, content_hash, model_files, part_weights
from indexing.models.loading import loading

QUESTION_ANSWERING = "QuestionAnswering"
SEQUENCES = "SequenceClassification"
TOKENS = "TokenClassification"

_LOADERS = {each: f"AutoModelFor{each}" for each in (QUESTION_ANSWERING, SEQUENCES, TOKENS)}
_LONGEST = 512  # tokens, where neither model nor tokenizer says


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A loaded model."""

    weights: Weights  # where its files are, and which ones
    kind: str  # one of the three above
    model: Any  # in float32, or bfloat16 where the device is fast in it
    tokenizer: Any  # a fast one, of transformers
    digest: str  # of its files

    @property
    def longest(self) -> int:
        """Tokens that it reads at once."""
        positions = getattr(self.model.config, "max_position_embeddings", None) or _LONGEST
        stated = self.tokenizer.model_max_length
        offset = 2 if getattr(self.model.config, "model_type", "") in _OFFSET else 0
        return int(min(positions - offset, stated, 4 * _LONGEST))

    @property
    def labels(self) -> list[str]:
        """Of its classes, in small letters, by number."""
        named = self.model.config.id2label
        return [str(named[number]).lower() for number in sorted(named)]

    @property
    def described(self) -> str:
        """Name, revision and digest, for the ledger."""
        known = dict.fromkeys((self.weights.revision, self.digest))  # a folder's are the same
        return f"{self.weights.name} ({', '.join(known)})"


class NamedPart:
    """A model for one task by its name, loaded when it is first used."""

    _purpose: ClassVar[str]
    _kinds: ClassVar[Mapping[str, str]]

    def __init__(self, name: str, *, notify: Notify | None = None) -> None:
        self.name, self._notify, self._loading = name, notify, Lock()

    @cached_property
    def _part(self) -> Part:
        part = load_part(self.name, self._purpose, self._kinds, self._notify)
        self._check(part)
        return part

    def _check(self, part: Part) -> None:
        """Refuse a model whose classes do not fit its task.

        Raises:
            UnsupportedModel: They do not.
        """
        raise NotImplementedError

    @property
    def described(self) -> str:
        """Name, revision and digest."""
        with self._loading:
            return self._part.described


_OFFSET = ("roberta", "xlm-roberta", "camembert")  # their first position is the third row


def load_part(name: str, purpose: str, kinds: Mapping[str, str], notify: Notify | None) -> Part:
    """The model of a name.

    Args:
        name: A folder or a hub name.
        purpose: What it is to be, for messages: "reader".
        kinds: The kinds that will do, each with what it is called in a message.
        notify: Told about anything that takes long.

    Raises:
        ModelNotFound: No weights by that name here or on the hub.
        UnsupportedModel: It is made for something else, or has no safetensors.
        ModelError: It cannot be loaded.
    """
    weights = part_weights(name, notify=notify)
    kind = _kind(weights, purpose, kinds)
    try:
        with loading():
            import transformers

            options = {"local_files_only": True, "trust_remote_code": False}
            tokenizer = transformers.AutoTokenizer.from_pretrained(weights.folder, **options)
            model = getattr(transformers, _LOADERS[kind]).from_pretrained(
                weights.folder, use_safetensors=True, **options
            )
    except Exception as error:  # whatever a damaged folder makes the library raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise ModelError(
            f"{name} cannot be loaded as a {purpose} ({reason}); copy or fetch it again"
        ) from error
    if not tokenizer.is_fast:
        raise UnsupportedModel(
            f"{name}: its tokenizer gives no character offsets; choose a model with a "
            "tokenizer.json"
        )
    device = best_device()
    model = model.eval().to(device, best_dtype(device))
    return Part(weights, kind, model, tokenizer, content_hash(model_files(weights)))


def _kind(weights: Weights, purpose: str, kinds: Mapping[str, str]) -> str:
    """Which of some kinds a model is."""
    try:
        config = json.loads((weights.folder / "config.json").read_text("utf-8"))
        stated = [str(each) for each in config.get("architectures") or ()]
    except (OSError, ValueError, AttributeError, TypeError):
        stated = []
    for kind in kinds:
        if any(each.endswith(f"For{kind}") for each in stated):
            return kind
    wanted = " or ".join(f"{called} (...For{kind})" for kind, called in kinds.items())
    raise UnsupportedModel(
        f"{weights.name} is no {purpose}: its architecture is {', '.join(stated) or 'not stated'}; "
        f"name {wanted}"
    )
