"""LangChain's standard tests: none is skipped without a reason that is written down here."""

from __future__ import annotations

from collections.abc import Generator

import pytest

TOOLS = "no tools are called: a small model makes calls up, and nothing here would check them"
SCHEMA = "answers are text; decoding under a schema is not offered"
TEXT = "the models that are run here read text only; anything else in a message is an error"

# By what a standard test says when it is skipped, why it does not apply.
WHY = {
    "Test requires tool calling.": TOOLS,
    "Test requires tool calling support.": TOOLS,
    "Test requires tool choice.": TOOLS,
    "Test requires structured output.": SCHEMA,
    "Test requires json mode support.": SCHEMA,
    "Model does not support PDF inputs.": TEXT,
    "Model does not support PDF tool message.": TEXT,
    "Model does not support audio inputs.": TEXT,
    "Model does not support image message.": TEXT,
    "Model does not support image tool message.": TEXT,
    "Model does not explicitly support Anthropic inputs.": TEXT,
    "Model is not serializable.": "LangChain reads back its own partners' classes only",
    "init_from_env_params not specified.": "no key or address is needed",
}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A standard test that is skipped for a reason that is not in the table fails."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail"):
        assert isinstance(report.longrepr, tuple)
        if report.longrepr[2].removeprefix("Skipped: ") not in WHY:
            report.outcome = "failed"
    return report
