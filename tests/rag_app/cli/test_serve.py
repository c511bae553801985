"""What the options of `rag-app serve` make of the corpus that is served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from generator.settings import GeneratorSettings
from rag_app.chat.application import Application
from rag_app.chat.web import server
from rag_app.cli.main import main


@pytest.mark.parametrize(("words", "evidence"), [([], "auto"), (["documents"], "documents")])
def test_evidence_is_the_setting_of_all_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], evidence: str
) -> None:
    served: list[GeneratorSettings] = []

    def listen(app: Application, *_: Any, **__: Any) -> None:
        served.append(app.corpus.generator_settings)

    monkeypatch.setattr(server, "serve", listen)
    flags = ["--evidence", *words] if words else []
    result = CliRunner().invoke(main, ["serve", "--corpus", str(tmp_path), *flags])
    assert result.exit_code == 0, result.output
    assert [each.evidence for each in served] == [evidence]
