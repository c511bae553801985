"""What a reader sees of a page: blocks and titles, the unseen left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.indexing.loaders.written import read_text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>one\n  two</p><p>three</p>", "one two\n\nthree"),
        ("<p>one<br>two <b>bold</b>ly</p>", "one\ntwo boldly"),
        ("<ul><li>one</li><li>two</li></ul>after", "one\ntwo\n\nafter"),
        (
            "<table><tr><th>a</th><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>",
            "a | b\nc | d",
        ),
        ("<pre>a\n  b</pre><p>c</p>", "a\n  b\n\nc"),
        ("<div>a<div>b</div>c</div>", "a\nb\nc"),
        ("a<script>x</script><!-- x --><style>x</style><template>x</template>b", "ab"),
        ("<nav>x</nav><p hidden>x</p><p aria-hidden='true'>x</p>a", "a"),
        ("<p style='color:red; DISPLAY : none'>x</p><p style='color:red'>a</p>", "a"),
        ("&lt;b&gt; &amp; &eacute;&nbsp;&#128512;", "<b> & é\u00a0😀"),
        ("<header><h1>a</h1></header><footer>b</footer>", "a\n\nb"),
        ("just words", "just words"),
        ("<p>never <i>closed<p>again", "never closed\n\nagain"),
    ],
)
def test_html_blocks(body: str, text: str, tmp_path: Path) -> None:
    assert read_text(tmp_path / "a.html", body).text == text


def test_html_titles_and_depth(tmp_path: Path) -> None:
    assert read_text(tmp_path / "a.html", "<title> The\n Plan </title><p>x").title == "The Plan"
    assert read_text(tmp_path / "a.html", "<p>x</p><h2>First</h2><h1>Second</h1>").title == "First"
    assert read_text(tmp_path / "a.html", "<p>x").title == "a"
    deep = read_text(
        tmp_path / "a.html", "<div>" * 20_000 + "<p>in the depth" + "</div>" * 20_000 + "<p>out"
    )
    assert "out" in deep.text or "in the depth" in deep.text
