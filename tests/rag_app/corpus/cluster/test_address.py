"""Addresses of corpora on a Ray cluster, and what the cluster knows them by."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from indexing.errors import CorpusNotFound, InvalidRequest
from rag_app.cli.main import main
from rag_app.corpus.cluster import address
from rag_app.corpus.cluster.address import (
    CorpusAddress,
    actor_name,
    corpus_name,
    known_corpora,
    require_free,
)
from rag_app.corpus.corpus import Corpus


def cluster(*names: str) -> SimpleNamespace:
    """A cluster with actors of these names, and one of another program's."""
    actors = [{"name": one, "namespace": "rag-app"} for one in names]
    actors.append({"name": "other", "namespace": "elsewhere"})
    return SimpleNamespace(util=SimpleNamespace(list_named_actors=lambda all_namespaces: actors))


def test_addresses_come_back_as_they_were_written() -> None:
    for text in ("ray://10.0.0.1:6379/minutes", "ray://head:6379/a.b-2", "ray://[fd00::1]:1/x"):
        assert str(CorpusAddress.of(text)) == text
    assert CorpusAddress.of("ray://head:6379/a/") == CorpusAddress("head:6379", "a")


@pytest.mark.parametrize(
    "text", ["ray://head/a", "ray://head:6379", "ray://head:6379/", "ray://:1/a", "ray://h:1/a/b"]
)
def test_other_forms_are_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="write ray://HOST:PORT/NAME"):
        CorpusAddress.of(text)
    with pytest.raises(InvalidRequest, match="cluster init"):
        Corpus(text)


def test_actors_say_where_their_corpus_is(tmp_path: Path) -> None:
    folder = tmp_path / "a folder | with: signs"
    ray = cluster(actor_name("a", folder, "0", 0), actor_name("b", tmp_path, "12", 3))
    assert known_corpora(ray) == {"a": folder, "b": tmp_path}
    require_free(ray, "b", tmp_path)
    require_free(ray, "c", tmp_path)
    with pytest.raises(InvalidRequest, match="give another with --name"):
        require_free(ray, "a", tmp_path)


def test_corpora_are_named_after_their_folders() -> None:
    names = [corpus_name("", Path(one)) for one in ("/srv/my minutes", "/srv/talks/.rag-app")]
    assert names == ["my-minutes", "talks"] and corpus_name("x", Path("/a")) == "x"
    with pytest.raises(InvalidRequest, match="no name for a corpus"):
        corpus_name("a/b", Path("/a"))


def test_a_corpus_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    actors = (actor_name("here", tmp_path, "0", 0), actor_name("gone", tmp_path / "no", "0", 0))
    monkeypatch.setattr(address, "connect", lambda _: cluster(*actors))
    assert CorpusAddress("h:1", "here").folder() == tmp_path
    with pytest.raises(CorpusNotFound, match=r"it has gone, here\); name it .* --name other"):
        Corpus("ray://h:1/other")
    with pytest.raises(CorpusNotFound, match="not on this machine"):
        Corpus("ray://h:1/gone")
    with pytest.raises(SystemExit) as ended:
        main(["list", "--corpus", "ray://h:1/other"])
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("rag-app: ray://h:1/other: no corpus of that name") and "\n" in said
    with Corpus("ray://h:1/here") as corpus:
        assert corpus.folder == tmp_path
