"""Tuned positions: a table of positions grown by rows that `tune` trained for one model.

LongEmbed (arXiv 2404.12096, section 4.1), as in E5-Base-4k. The training is in `tuning`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from indexing.errors import InvalidRequest, UnreadableFile, UnsupportedModel
from indexing.extension.batch import current_batch
from indexing.extension.method import Change
from indexing.extension.pi import InterpolatedPositions
from indexing.extension.positions import with_position_ids
from indexing.nn.architecture import Architecture, Positions, PositionTable
from indexing.nn.hooks import Inputs, forward_hook, pre_forward_hook, sequence_limit

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from torch import Tensor, nn

FORMAT = "rag-app positions 2"
PREFIX = "tuned:"  # begins the name of this method; a file's path follows
REMEDY = "name a file that `rag-app tune` has written for this version"
PINNED_REMEDY = (
    "put that file back, or encode the corpus again: rag-app index --reencode, with the "
    "--encoder and --extension of your choice"
)
CHECKSUM = "#sha256="  # and may be followed by this and the SHA-256 digest of the file


@dataclass(frozen=True, slots=True)
class Record:
    """What a file of tuned positions says of itself."""

    base: str  # the model it was tuned for, as its owner calls it
    # SHA-256 of that model's own rows in bfloat16, the coarsest dtype an encoder runs in
    digest: str
    original: int  # L_o
    max_length: int  # L_t

    @property
    def rows(self) -> int:
        """How many of the first L_t rows are new: every s-th is the model's own."""
        s = -(-self.max_length // self.original)
        return self.max_length - -(-self.max_length // s)


@dataclass(frozen=True)
class TunedPositions(Change):
    """Positions that `tune` has trained for one model.

    Within the original window the model is untouched; s is ceil(L_t / L_o) for longer texts.
    """

    name: ClassVar[str] = "tuned positions"
    works_on: ClassVar[frozenset[Positions]] = frozenset({"absolute"})

    path: Path  # the file that `tune` wrote
    # SHA-256 of the file, where it must be a certain one, in hexadecimal
    checksum: str | None = None

    @classmethod
    def parse(cls, name: str, *, max_length: int | None = None) -> TunedPositions:
        """The method called `tuned:FILE` or, if the file must be a certain one, as by `pinned`.

        Args:
            name: That name.
            max_length: L_t, if it is given beside the file, which has one of its own.

        Raises:
            UnreadableFile: It is no file of tuned positions, or not the one with that checksum.
            InvalidRequest: There is no file in the name, or the file has another length.
        """
        path, _, checksum = name.removeprefix(PREFIX).partition(CHECKSUM)
        if not path:
            raise InvalidRequest(f"{name!r} names no file; give {PREFIX}FILE, from rag-app tune")
        method = cls(Path(path), checksum or None)
        tuned = method.record().max_length
        if max_length not in (None, tuned):
            msg = f"{path} was tuned for {tuned} tokens, not {max_length}; give no --max-length"
            raise InvalidRequest(msg)
        return method

    def pinned(self) -> str:
        """A name that means the same file, with the same content, from any working folder."""
        return f"{PREFIX}{self.path.resolve()}{CHECKSUM}{self.checksum or _checksum(self.path)}"

    def record(self) -> Record:
        """Base model and lengths.

        Raises:
            UnreadableFile: It is no file of tuned positions, or has another checksum.
        """
        return self._read()[0]

    def _read(self) -> tuple[Record, Tensor]:
        if self.checksum and _checksum(self.path) != self.checksum:
            reason = "is not the file that the vectors were made with"
            raise UnreadableFile(self.path, reason, PINNED_REMEDY)
        return read_rows(self.path)

    def check(self, arch: Architecture) -> None:
        """Refuses any model but the one that the positions were tuned for."""
        super().check(arch)
        assert arch.table is not None
        record = self.record()
        if record.digest != digest_rows(own_rows(arch.table, record.original)):
            msg = f"{self.path} was tuned for {record.base}, and this model has other positions"
            raise UnsupportedModel(f"{msg}; tune them for this model: rag-app tune")

    @contextmanager
    def apply(self, model: SentenceTransformer, arch: Architecture) -> Iterator[None]:
        """Applies the change, and lets the tokenizer keep as many tokens as were trained for."""
        with sequence_limit(model, self.record().max_length), super().apply(model, arch):
            yield

    def max_tokens(self) -> int | None:
        """No sequence may be longer than L_t."""
        return self.record().max_length

    def changes(
        self, model: SentenceTransformer, arch: Architecture
    ) -> Iterable[AbstractContextManager[object]]:
        """Rows of the grown table instead of those of the model's own."""
        assert arch.table is not None
        table, (record, new) = arch.table, self._read()
        own = own_rows(table, record.original)
        table_rows = interleave(own, new.to(own))
        s = len(table_rows) // record.original

        def replace_ids(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inputs:
            batch = current_batch()
            rows = batch.positions.clamp(max=record.original - 1) + table.offset
            rows = rows.where(batch.positioned, rows.new_tensor(max(0, table.offset - 1)))
            return with_position_ids(module, args, kwargs, rows)

        def look_up(_: nn.Module, __: object, ___: object, output: Tensor) -> Tensor:
            batch = current_batch()
            long = batch.longer_than(record.original)[:, None]
            rows = table_rows[batch.positions.where(long, batch.positions * s)]
            return rows.where(batch.positioned[..., None], output)

        yield pre_forward_hook(table.module, replace_ids)
        yield forward_hook(table.embedding, look_up)

    def identity(self) -> Change | None:
        """The hooks are those of interpolation, which can be proven on a short text."""
        return InterpolatedPositions(max_length=1).identity()

    def active(self) -> Change | None:
        """The hooks are those of interpolation, which can be proven on a short text."""
        return InterpolatedPositions(max_length=1).active()


def own_rows(table: PositionTable, original: int) -> Tensor:
    """The model's own rows, position 0 first: (L_o, H)."""
    return table.embedding.weight.detach()[table.offset : table.offset + original]


def interleave(own: Tensor, new: Tensor) -> Tensor:
    """Old and new rows in order: (s * L_o, H), with old row i at i * s."""
    import torch

    return torch.cat((own[:, None], new), dim=1).flatten(0, 1)


def digest_rows(rows: Tensor) -> str:
    """SHA-256 of rows, the same for a model loaded in float32 and in bfloat16."""
    import torch

    coarse = rows.to("cpu", torch.bfloat16).contiguous().view(torch.int16)
    return hashlib.sha256(coarse.numpy().tobytes()).hexdigest()


def write_rows(path: Path, new: Tensor, record: Record) -> None:
    """Write new rows (L_o, s - 1, H) and what they are for."""
    from safetensors.torch import save_file

    header = {name: str(getattr(record, name)) for name in Record.__slots__}
    save_file({"new": new.contiguous()}, path, metadata={"format": FORMAT, **header})


def read_rows(path: Path) -> tuple[Record, Tensor]:
    """What `write_rows` wrote.

    Raises:
        UnreadableFile: It is no such file.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            header, names = file.metadata() or {}, list(file.keys())
            new = file.get_tensor("new") if names == ["new"] else None
    except (OSError, SafetensorError) as error:
        raise UnreadableFile(path, f"cannot be read ({error})", REMEDY) from error
    if header.get("format") != FORMAT or new is None:
        raise UnreadableFile(path, "holds no tuned positions", REMEDY)
    try:
        lengths = int(header["original"]), int(header["max_length"])
        record = Record(header["base"], header["digest"], *lengths)
    except (KeyError, ValueError) as error:
        raise UnreadableFile(path, f"has a damaged header ({error})", REMEDY) from error
    rows, between = new.shape[:2] if new.ndim == 3 else (0, 0)
    if rows != record.original or rows * (between + 1) < record.max_length:
        raise UnreadableFile(path, "has rows that do not fit its header", REMEDY)
    return record, new


def _checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
        raise UnreadableFile(path, reason, PINNED_REMEDY) from error
