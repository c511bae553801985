"""Who keeps the names of a corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.errors import InvalidRequest
from rag_app.chat.language.current import speaking, usual
from rag_app.chat.language.elsewhere import translated
from rag_app.chat.page.views.alias_list import AliasList
from rag_app.corpus.corpus import Corpus


def test_the_first_person_keeps_names(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add_text("Ann leads the trial.", name="trial")
        nobody, proxied = AliasList(corpus), AliasList(corpus, ())
        team = AliasList(corpus, ("ann", "bob"))
        assert nobody.refusal(None) == team.refusal("ann") == ""
        assert "ann keeps names" in team.refusal("bob") and proxied.refusal("bob")
        team.change("ann", lambda aliases: aliases.add("Aoife", "Eefa"))
        assert nobody.seen_by(None).all().names == {"Eefa": "Aoife"}
        for each in (team, proxied):
            with pytest.raises(InvalidRequest):
                each.seen_by("bob")
            with pytest.raises(InvalidRequest):
                each.change("bob", lambda aliases: aliases.remove("Eefa"))
        said = [team.refusal("bob"), proxied.refusal("bob")]
        for act in (lambda it: it.add("Ann", "Eefa"), lambda it: it.remove("Olga")):
            with pytest.raises(InvalidRequest) as refused:
                team.change("ann", act)
            said.append(str(refused.value))
        with speaking(usual("de")):
            assert all(translated(text) != text for text in said)
