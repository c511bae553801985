"""The collections that each person has: listed, ticked, shared, and made for uploads."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexing.errors import InvalidRequest
from rag_app.chat.collection_list import CollectionList
from rag_app.chat.document_list import DocumentList
from rag_app.chat.page import html as view
from rag_app.chat.uploads import Uploads
from rag_app.corpus.corpus import Corpus


def test_each_person_has_their_own_first_and_ticks_what_they_may_read(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        lists = CollectionList(corpus)
        assert lists.entries("ann") == [] and lists.for_uploads("ann") is None
        assert lists.for_uploads(None) == lists.make_for_uploads(None) == "default"
        for person in ("zoe", "ann"):
            assert lists.make_for_uploads(person) == lists.make_for_uploads(person) == person
        corpus.collections.create("plans", owner="bob", shared=True)
        assert [one.name for one in lists.entries("zoe")] == ["zoe", "plans", "default"]
        assert [one.name for one in lists.entries("ann")] == ["ann", "plans", "default"]
        assert len(lists.entries(None)) == 4
        asked = ["zoe", "plans", "nothing", 7]
        assert lists.select(asked, "ann") == ("plans",)
        assert lists.select(asked, "zoe") == ("zoe", "plans")
        assert lists.select("zoe", "zoe") == ()


def test_only_its_owner_shares_a_collection(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        lists = CollectionList(corpus)
        lists.make_for_uploads("ann")
        lists.share("ann", "ann", shared=True)
        assert [one.name for one in lists.entries("bob")] == ["ann", "default"]
        for name in ("ann", "default", "nothing"):
            for shared in (True, False):
                with pytest.raises(InvalidRequest, match="not yours"):
                    lists.share(name, "bob", shared=shared)
        lists.share("ann", "ann", shared=False)
        assert [one.name for one in lists.entries("bob")] == ["default"]


def test_uploads_never_go_to_a_collection_of_the_name_that_is_somebody_elses(
    tmp_path: Path,
) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        lists = CollectionList(corpus)
        corpus.collections.create("ann", owner="bob")
        corpus.collections.create("ann (2)")
        assert lists.make_for_uploads("ann") == "ann (3)"
        assert lists.make_for_uploads("default") == "default (2)"
        assert lists.make_for_uploads("a  b") == "a b"
        corpus.collections.rename("a b", "mine")
        assert lists.for_uploads("a  b") == "mine"
        assert corpus.collections.named("mine").owner == "a  b"


def test_what_is_listed_says_whose_it_is(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        corpus.add_text("A rail calls.", name="rail")
        lists = CollectionList(corpus)
        assert "checkbox" not in view.collections(lists.entries(None), (), None)
        corpus.collections.create("<b>ann</b>", owner="ann", shared=True)
        page = view.collections(lists.entries("bob"), ("default",), "bob")
        assert "shared by ann · 0 documents" in page and "everybody's · 1 document<" in page
        assert "&lt;b&gt;ann" in page and "<b>" not in page and "share_collection" not in page
        assert page.count("checked") == 1
        assert 'data-act="unshare_collection"' in view.collections(lists.entries("ann"), (), "ann")


def test_a_collection_is_made_of_documents_of_ones_own(tmp_path: Path) -> None:
    with Corpus(tmp_path / "corpus") as corpus:
        documents = DocumentList(corpus, Uploads(tmp_path / "uploads", max_bytes=1000))
        corpus.collections.create("ann", owner="ann", shared=True)
        (anns,) = corpus.add_text("A rail calls.", name="rail", collection="ann").added
        (everybodys,) = corpus.add_text("A coot calls.", name="coot").added
        documents.collect([everybodys], "  Birds of  bob", "bob")
        documents.collect([everybodys], "Birds of bob", "bob")
        made = corpus.collections.named("Birds of bob")
        assert (made.owner, made.shared, made.documents) == ("bob", False, 1)
        documents.collect([], "Nothing yet", "ann")
        assert corpus.collections.named("Nothing yet").documents == 0
        with pytest.raises(InvalidRequest, match="somebody else"):
            documents.collect([anns], "Birds of bob", "bob")  # shared, but not to be handed on
        with pytest.raises(InvalidRequest, match="there is a collection of this name"):
            documents.collect([everybodys], "ann", "bob")
        with pytest.raises(InvalidRequest, match="no name for a collection"):
            documents.collect([everybodys], " ", "bob")
        assert corpus.collections.named("ann").documents == 1
        documents.collect([anns, everybodys], "All", None)
        assert corpus.collections.named("All").owner is None


def test_the_way_to_a_collection_is_there_as_soon_as_there_is_a_document(tmp_path: Path) -> None:
    assert view.collections((), (), None).strip() == ""
    assert "New collection" in view.collections((), (), None, documents=1)
    assert "Put 2 documents into a collection" in view.collections(
        (), (), None, documents=3, chosen=2
    )
