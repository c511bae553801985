"""The writer: low-rank adapters with which the packaged model answers from a handful of quotes.

They were trained on QMSum's queries and on questions on passages (`training/writer`), and are
merged into the model when it is loaded. docs/notebook/experiments.md has the figures.
"""

from __future__ import annotations

from pathlib import Path

ADAPTERS = Path(__file__).with_name("writer.safetensors")
