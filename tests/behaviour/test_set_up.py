"""tools/set_up.sh where there is little: a small /tmp, a path with spaces and umlauts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

SET_UP = Path(__file__).resolve().parents[2] / "tools" / "set_up.sh"

PYTHON = """#!/bin/sh
# A Python whose pip downloads nothing, but says where it would.
here=$(dirname "$0")
case "$*" in
*venv*)
    for last; do :; done
    mkdir -p "$last/bin"
    cp "$0" "$last/bin/python"
    cp "$0" "$last/bin/pip"
    ;;
*pip*install*) test -d "$TMPDIR" && echo "$TMPDIR" >>"$here/../../downloads" ;;
*-c*) ;;
-) cat >/dev/null ;;
*) exit 1 ;;
esac
"""


@pytest.mark.parametrize("venv", [".venv", "Umgebung für alle"])
def test_what_is_downloaded_lies_in_the_environment_until_it_is_installed(
    venv: str, tmp_path: Path
) -> None:
    """Not in /tmp, which may hold 64 MB; torch alone is 190."""
    root = tmp_path / "Ordner mit Ümläuten"
    root.mkdir()
    python = root / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    command = ["/bin/sh", str(SET_UP), str(python), venv, "cpu,offline"]
    environment = {"PATH": "/usr/bin:/bin"}  # without a home, too
    ran = subprocess.run(
        command, check=False, cwd=root, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    downloads = (root / "downloads").read_text().splitlines()
    assert set(downloads) == {str(root / venv / "tmp")} and len(downloads) == 2
    assert not (root / venv / "tmp").exists()
