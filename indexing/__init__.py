"""Files to documents to vectors: the floor that everything else stands on."""

from indexing.models.runtime import sleep_soon

sleep_soon()  # before any part of this imports NumPy
