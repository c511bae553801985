"""What a language model reads of the best documents: all of each, or passages."""

from __future__ import annotations

from typing import Literal, get_args

EvidenceUnit = Literal["auto", "documents", "passages"]

UNITS: tuple[EvidenceUnit, ...] = get_args(EvidenceUnit)
"""Whole documents where the model's window is long and the device can carry it, else passages; the
best documents whole, as many as fit; the best passages."""
