"""Where what was added to the packaged encoder lies, to make it the reader."""

from __future__ import annotations

from pathlib import Path

READER_WEIGHTS = Path(__file__).with_name("reader.safetensors")
