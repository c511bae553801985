"""The tokenizer of a model's folder, by the tokenizers library, without transformers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer


def load_tokenizer(folder: Path, *, special_tokens_in_text: bool = True) -> Tokenizer:
    """What tokenizes any text whole: nothing is cut, and nothing padded.

    Args:
        folder: Of a model, with a `tokenizer.json`.
        special_tokens_in_text: Whether "[SEP]" in a text is that token, not five characters.

    Raises:
        Exception: There is no such file, or it is damaged; tokenizers has no error of its own.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = not special_tokens_in_text
    return tokenizer
