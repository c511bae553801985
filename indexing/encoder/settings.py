"""The user's settings for encoding."""

from __future__ import annotations

from dataclasses import dataclass

from indexing.models.files import DEFAULT_ENCODER

DTYPES = ("auto", "float32", "bfloat16")


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """What a person may choose about encoding.

    Attributes:
        model: A packaged name, a folder, or a name on the model hub.
        extension: A context-extension method, its name with "+entropy", "tuned:FILE" for positions
            that `rag-app tune` has trained, or "none" to cut documents at `max_length`.
        max_length: Tokens of one window, special tokens included; None takes the model's own.
        dtype: "float32", "bfloat16", or "auto": bfloat16 where the CPU has it.
        device: "cpu", "cuda", "mps", or "auto".
    """

    model: str = DEFAULT_ENCODER
    extension: str = "pcw"
    max_length: int | None = None
    dtype: str = "auto"
    device: str = "auto"
