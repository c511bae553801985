"""What each extra costs: megabytes on the disk, and seconds to install by pip and by uv.

What every installation has is installed into an environment of its own; a copy of that, made of
links, gets the extra. Nothing is taken from a cache of pip or uv. Where both are asked for they
take turns, extra by extra, so that their ratio holds on a busy machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import click

from benchmarks.checkouts import ROOT
from rag_app.cli.options import print_result, with_json
from rag_app.laboratory.evaluation.table import grid
from rag_app.progress import track

BASE = "none"  # what every installation has
INSTALLERS = ("pip", "uv")
_OWN = re.compile(r"rag-app\[([\w,-]+)\]")
_NOT_HERE = ("gpu", "dev", "site")  # by default: of another machine, or of developers


@dataclass(frozen=True, slots=True)
class Cost:
    """What one extra costs, beside what every installation has.

    Attributes:
        extra: Its name; BASE is what every installation has.
        megabytes: On the disk, without compiled Python.
        seconds: By installer.
    """

    extra: str
    megabytes: float
    seconds: dict[str, float]


def requirements(project: Mapping[str, Any], extra: str) -> list[str]:
    """What an extra of a project requires; extras of ours are taken apart."""
    if extra == BASE:
        return [*project["dependencies"]]
    found = dict[str, None]()
    for each in project["optional-dependencies"][extra]:
        own = _OWN.fullmatch(each)
        parts = own[1].split(",") if own else ()
        inner = [one for part in parts for one in requirements(project, part)]
        found |= dict.fromkeys(inner if own else [each])
    return [*found]


def measure(
    project: Mapping[str, Any], extras: Sequence[str], installers: Sequence[str], folder: Path
) -> Iterator[Cost]:
    """Install what every installation has, then each extra, by each installer in turn."""
    with track([BASE, *extras], doing="Installing") as each:
        for extra in each:
            seconds, sizes = dict[str, float](), list[float]()
            for installer in installers:
                base, made = folder / installer / BASE, folder / installer / extra
                if extra == BASE:
                    run([sys.executable, "-m", "venv", str(made)])
                else:
                    shutil.copytree(base, made, symlinks=True, copy_function=os.link)
                before = megabytes(made)
                started = perf_counter()
                run(command_of(installer, made / "bin" / "python", requirements(project, extra)))
                seconds[installer] = round(perf_counter() - started, 1)
                sizes.append(megabytes(made) - before)
                if extra != BASE:
                    shutil.rmtree(made)
            yield Cost(extra, round(max(sizes), 1), seconds)


def command_of(installer: str, python: Path, what: Sequence[str]) -> list[str]:
    """The line that installs something for a Python, at the versions of this checkout."""
    line = {
        "pip": [str(python), "-m", "pip", "install", "--no-cache-dir"],
        "uv": ["uv", "pip", "install", "--no-cache", "--python", str(python)],
    }[installer]
    return [*line, "--quiet", "--constraint", str(ROOT / "constraints.txt"), *what]


def run(line: Sequence[str]) -> None:
    """Run a command to its end.

    Raises:
        ClickException: It failed, with the end of what it said.
    """
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        said = done.stderr.strip()[-2000:]
        raise click.ClickException(
            f"{' '.join(line[:4])} ... ended with {done.returncode}:\n{said}"
        )


def megabytes(folder: Path) -> float:
    """Of all files but compiled Python, which pip makes and uv does not."""
    files = (file for file in folder.rglob("*") if file.suffix != ".pyc" and not file.is_symlink())
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6


def text(costs: Sequence[Cost]) -> str:
    """A Markdown table."""
    installers = [*costs[0].seconds]
    header = ["extra", "MB", *(f"{name}, s" for name in installers)]
    rows = [
        [one.extra, f"{one.megabytes:,.0f}", *(f"{one.seconds[name]:.1f}" for name in installers)]
        for one in costs
    ]
    return grid(header, rows)


@click.command
@click.option("--extra", "extras", multiple=True, help="Of these alone; may be repeated.")
@click.option(
    "--by",
    "installers",
    type=click.Choice(INSTALLERS),
    multiple=True,
    help="May be repeated.  [default: pip, and uv where there is one]",
)
@with_json
def command(extras: tuple[str, ...], installers: tuple[str, ...], as_json: bool) -> None:
    """Megabytes and seconds of each extra, beside what every installation has.

    Downloads gigabytes and takes minutes. Variables of the environment say where from, as pip and
    uv read them: PIP_FIND_LINKS, UV_FIND_LINKS and so on.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    known = [name for name in project["optional-dependencies"] if name not in _NOT_HERE]
    if unknown := {*extras} - {*project["optional-dependencies"]}:
        raise click.BadParameter(f"there is no extra {min(unknown)}; there are {', '.join(known)}")
    there = [name for name in INSTALLERS if name == "pip" or shutil.which(name)]
    with TemporaryDirectory() as folder:
        costs = []
        for one in measure(project, extras or known, installers or there, Path(folder)):
            costs.append(one)  # told at once: what was measured is not lost with what fails later
            click.echo(f"{one.extra}: {one.megabytes:,.0f} MB, {one.seconds} s", err=True)
    report = {"task": "extras", "extras": [asdict(one) for one in costs]}
    print_result(as_json, report, lambda: click.echo(text(costs)))
