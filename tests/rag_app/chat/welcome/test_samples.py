"""The samples that are offered are here, of each kind one, and can be read."""

from __future__ import annotations

from indexing.documents import Document
from indexing.files import FileReader
from rag_app.chat.welcome.samples import FILES, samples


def test_every_sample_is_there_and_is_read() -> None:
    found = samples()
    assert [path.name for path in found] == list(FILES)
    with FileReader() as reader:
        assert all(isinstance(reader.read(path)[0], Document) for path in found)
