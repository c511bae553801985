"""Where lists of references begin and end."""

from __future__ import annotations

import pytest

from indexing.text.references import reference_lists

ENTRIES = {
    "names, then initials": """Bates D, Maechler M (2015). Matrix: Sparse Matrix Classes.
R package version 1.2-2, URL http://CRAN.R-project.org/package=Matrix.
Breiman L (2001). "Random Forests." Machine Learning, 45(1), 5-32.""",
    "initials with stops": """Huang, G., Sun, Y., and Weinberger, K. Q. Deep networks with
stochastic depth. In European conference on computer vision, pp. 646-661. Springer, 2016.
Jia, R. and Liang, P. Adversarial examples. arXiv preprint arXiv:1707.07328, 2017.""",
    "numbers": """[1] D. W. K. Andrews. Tests for parameter instability. Econometrica, 1993.
[2] A. Zeileis. Implementing a class of tests. Computational Statistics, 2006. doi: 10.1/x.""",
}


@pytest.mark.parametrize("style", ENTRIES)
@pytest.mark.parametrize("heading", ["References", "## 7. REFERENCES", "Literaturverzeichnis:"])
def test_a_list_begins_at_its_heading_and_ends_with_its_entries(style: str, heading: str) -> None:
    before = "As Breiman, L. (2001, pp. 5-32) has shown, forests work.\n\n"
    after = "\n\nAppendix\n\n" + "Here we tell how the figures were made.\n" * 9
    text = f"{before}{heading}\n\n{ENTRIES[style]}{after}"
    ((start, end),) = reference_lists(text)
    assert text[start:end].strip() == ENTRIES[style]


def test_what_is_headed_so_but_names_no_works_is_none() -> None:
    assert reference_lists("References\n\nAsk Ben for the last two employers.\nThen call.") == ()
    assert reference_lists("The references, Smith, J. and others, are below.") == ()
    assert reference_lists("") == ()


def test_each_chapter_may_have_a_list() -> None:
    chapter = f"Prose without names.\n\nReferences\n\n{ENTRIES['numbers']}\n\n" + "More.\n" * 9
    assert len(reference_lists(chapter * 2)) == 2


def test_a_line_without_end_takes_no_time_that_grows_with_its_square() -> None:
    for line in ("A." * 200_000, "Smith, J. " * 50_000, " " * 200_000, "1" * 200_000):
        assert len(reference_lists(f"References\n{line}\n")) <= 1
