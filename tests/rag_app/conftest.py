"""LangChain's standard tests: none is skipped without a reason that is written down here."""

from __future__ import annotations

from collections.abc import Generator

import pytest

# By what a standard test says when it is skipped, why it does not apply. None is skipped today.
WHY: dict[str, str] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A standard test that is skipped for a reason that is not in the table fails."""
    report = yield
    if report.skipped and "test_langchain" in item.nodeid and not hasattr(report, "wasxfail"):
        _, _, said = report.longrepr  # type: ignore[misc]
        if said.removeprefix("Skipped: ") not in WHY:
            report.outcome = "failed"
    return report
