"""Words of the AMI corpus: whose they are, and words without times."""

from __future__ import annotations

from pathlib import Path

from indexing.documents import Document
from tests.reading import read

WORDS = """<?xml version="1.0" encoding="ISO-8859-1" standalone="yes"?>
<nite:root nite:id="ES2002a.B.words" xmlns:nite="http://nite.sourceforge.net/">
   <w nite:id="ES2002a.B.words0" starttime="50.42" endtime="50.99">Okay</w>
   <w nite:id="ES2002a.B.words1" starttime="50.99" endtime="50.99" punc="true">.</w>
   <w nite:id="ES2002a.B.words2">Hi</w>
   <transformerror nite:id="ES2002a.B.words3"/>
   <gap nite:id="ES2002a.B.words4" starttime="nan" endtime=""/>
   <w nite:id="ES2002a.B.words5" starttime="55.4" endtime="55.9"> I </w>
   <w nite:id="ES2002a.B.words6" starttime="55.9" endtime="56.0">'m</w>
   <w nite:id="ES2002a.B.words7" starttime="56.0" endtime="56.3">David</w>
</nite:root>"""


def test_a_speaker_by_file_or_identity(tmp_path: Path) -> None:
    for name, title in (("ES2002a.B.words", "ES2002a, B"), ("other", "ES2002a, B")):
        path = tmp_path / f"{name}.xml"
        path.write_text(WORDS, encoding="iso-8859-1")
        (document,) = read(path)
        assert isinstance(document, Document)
        assert document.text == "B: Okay. Hi {gap} I'm David"
        assert [(one.speaker, one.time) for one in document.utterances] == [("B", 50.42)]
        assert document.title == title
