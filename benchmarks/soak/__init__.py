"""People at a running server go in; its memory, handles and latencies come out."""

from benchmarks.soak.soak import command

__all__ = ["command"]
