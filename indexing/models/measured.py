"""What was measured of a model once, kept on this machine as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from indexing.models.cached_folder import cache_dir

Values = dict[str, dict[str, float]]


def measured(name: str, measure: Callable[[], Values]) -> Values:
    """The values of a name; measured now if they are not there, or cannot be read.

    A cache that cannot be written is no reason to fail.
    """
    path = cache_dir() / "measured" / f"{name}.json"
    try:
        return _checked(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError, AttributeError):
        pass
    values = measure()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(values), encoding="utf-8")
        new.replace(path)
    except OSError:
        pass
    return values


def _checked(values: Any) -> Values:  # noqa: ANN401 - of JSON
    return {
        str(name): {str(key): float(each) for key, each in one.items()}
        for name, one in values.items()
    }
