"""The mean of two readers' weights, which may be better than either (model soups).

    python training/reader/mean.py ONE.safetensors OTHER.safetensors --out READER.safetensors

Wortsman et al. 2022, arXiv 2203.05482.
"""

from __future__ import annotations

from pathlib import Path

import click
from safetensors.torch import save_file

from generator.reader.cross_encoder import CrossEncoder, load_cross_encoder
from indexing.models.weight_changes import changes


@click.command()
@click.argument("one", type=click.Path(path_type=Path, exists=True))
@click.argument("other", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--share", type=click.FloatRange(0, 1), default=0.5, show_default=True, help="OTHER's."
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(one: Path, other: Path, share: float, out: Path) -> None:
    """Write the mean of two readers' files."""
    first, second = (load_cross_encoder(each).tuned() for each in (one, other))
    mean = {
        name: (1 - share) * weights.detach() + share * second[name].detach()
        for name, weights in first.items()
    }
    save_file(changes(mean, CrossEncoder().tuned()), out)


if __name__ == "__main__":
    main()
