"""`python -m benchmarks`: every name is a module with a command."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import NAMES, main


@pytest.mark.parametrize("name", NAMES)
def test_help(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0, result.output


def test_an_error_of_ours_is_one_line() -> None:
    result = CliRunner().invoke(main, ["index-scaling", "--passages", "10"])
    assert result.exit_code == 1 and "1,000" in result.output
    assert "Traceback" not in result.output
