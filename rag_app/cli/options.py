"""Options that commands share, and the settings made from their values."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from indexing.limits import MIB, FileLimits
from indexing.ocr.reading import OcrSettings
from rag_app.cli import terminal
from rag_app.cli.option_types import (
    CLUSTER,
    DECODINGS,
    OCR_ENGINES,
    AnyPath,
    ClusterPlace,
    CorpusPlace,
    ExtensionName,
    Option,
    gathered,
)

if TYPE_CHECKING:
    from generator.parts import Parts
    from generator.settings import GeneratorSettings
    from indexing.encoder.settings import EncoderSettings
    from rag_app.corpus.cluster.workers import RayWorkers
    from rag_app.corpus.corpus import Corpus

with_corpus = click.option(
    "--corpus", "folder", type=CorpusPlace(), envvar="RAG_APP_CORPUS", show_envvar=True,
    default=".rag-app", show_default=True,
    help="Folder of the corpus, or ray://HOST:PORT/NAME of one on a Ray cluster.",
)  # fmt: skip

with_synchronous = click.option(
    "--synchronous", type=click.Choice(["normal", "full"]), default="normal", show_default=True,
    help="What a power cut may take: the latest documents (normal), or nothing (full, slower).",
)  # fmt: skip

with_wait = click.option(
    "--wait", type=click.FloatRange(min=0), default=60.0, show_default=True,
    help="Seconds to wait for others who write to the corpus.",
)  # fmt: skip

with_yes = click.option("--yes", is_flag=True, help="Do not ask.")
with_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _given(**values: object) -> dict[str, Any]:
    """The values of options that were given; the settings have the others."""
    return {name: value for name, value in values.items() if value}


def _encoder(
    encoder: str | None, extension: str | None, max_length: int | None, dtype: str | None
) -> EncoderSettings | None:
    """None when no option was given, so that the corpus's own settings count."""
    from indexing.encoder.settings import EncoderSettings

    values = _given(model=encoder, extension=extension, max_length=max_length, dtype=dtype)
    return EncoderSettings(**values) if values else None


with_encoder = gathered(
    "encoder",
    _encoder,
    click.option(
        "--encoder",
        help="Encoder model: packaged name, folder, hub name, or openai:BASE_URL#MODEL.  "
        "[default: packaged]",
    ),
    click.option(
        "--extension", type=ExtensionName(),
        help="Method for documents longer than the model's window.  [default: pcw]",
    ),
    click.option("--max-length", type=click.IntRange(min=8), help="Window size in tokens."),
    click.option(
        "--dtype", type=click.Choice(["auto", "float32", "bfloat16"]),
        help="Compute dtype.  [default: auto]",
    ),
)  # fmt: skip


def _ocr(ocr: str, ocr_languages: tuple[str, ...]) -> OcrSettings:
    return OcrSettings(ocr, ocr_languages)


with_ocr = gathered(
    "ocr",
    _ocr,
    click.option(
        "--ocr", type=click.Choice(["auto", "off", *OCR_ENGINES]), default="auto",
        show_default=True, help="Reads pages that are pictures; auto takes what is installed.",
    ),
    click.option(
        "--ocr-language", "ocr_languages", multiple=True,
        help="Of scanned pages, as tesseract calls it (eng, deu); rapidocr needs none. Repeatable.",
    ),
)  # fmt: skip

_LIMITS = FileLimits()


def _limits(
    max_file_mb: int, max_file_seconds: int, max_file_memory_mb: int, max_file_characters: int
) -> FileLimits:
    return FileLimits(
        max_file_mb * MIB, max_file_seconds, max_file_memory_mb * MIB, max_file_characters
    )


def limit_option(flag: str, usual: int, text: str, *, least: int = 1) -> Option[Any]:
    """An option that limits something to a whole number."""
    kind = click.IntRange(min=least)
    return click.option(flag, type=kind, default=usual, show_default=True, help=text)


with_file_limits = gathered(
    "limits",
    _limits,
    limit_option("--max-file-mb", _LIMITS.bytes // MIB, "Refuse files larger than this."),
    limit_option("--max-file-seconds", _LIMITS.seconds, "CPU time that reading one file may take."),
    limit_option(
        "--max-file-memory-mb", _LIMITS.memory // MIB, "Memory that reading one file may take.",
        least=64,
    ),
    limit_option("--max-file-characters", _LIMITS.characters, "Text that one file may hold."),
)  # fmt: skip


def _workers(ray: str | None, ray_cpus: float, ray_gpus: float) -> RayWorkers | None:
    from rag_app.corpus.cluster.workers import RayWorkers

    address = ray or click.get_current_context().meta.get(CLUSTER)
    return RayWorkers(address, ray_cpus, ray_gpus) if address else None


with_workers = gathered(
    "workers",
    _workers,
    click.option(
        "--ray", type=ClusterPlace(), metavar="HOST:PORT",
        help="Let the workers of this Ray cluster do it.  [default: the cluster that --corpus "
        "names, else this process]",
    ),
    click.option(
        "--ray-cpus", type=click.FloatRange(min=0), default=1, show_default=True, metavar="N",
        help="With --ray, cores of each worker.",
    ),
    click.option(
        "--ray-gpus", type=click.FloatRange(min=0), default=0, show_default=True, metavar="N",
        help="With --ray, GPUs of each worker; 0.25 lets four share one.",
    ),
)  # fmt: skip

with_missing_shards = click.option(
    "--missing-shards", type=click.Choice(["fail", "answer"]), default="fail", show_default=True,
    help="When a shard on a Ray cluster is lost: fail, or answer from the others and say so.",
)  # fmt: skip

with_withhold = click.option(
    "--withhold", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="SHARE",
    help="In place of --abstain-below: withhold at most this share of the answerable questions, "
    "such as 0.05, by what `calibrate --part abstention` found for the corpus.",
)  # fmt: skip


def _examples(_context: click.Context, _option: click.Parameter, path: Path | None) -> Any:  # noqa: ANN401 - the type lives in a heavy module
    if path is None:
        return ()
    from generator.prompt.worked_question import read_worked_questions

    return read_worked_questions(path)


with_examples = click.option(
    "--examples", type=AnyPath, callback=_examples,
    help="Worked questions for a generated answer: JSON lines of question, evidence, answer, and "
    "figures, a list of files.",
)  # fmt: skip

with_sees = click.option(
    "--sees", is_flag=True,
    help="The model, behind a server, sees: show it the figures beside the evidence.",
)  # fmt: skip


def _parts(reader: str | None, verifier: str | None, reranker: str | None) -> Any:  # noqa: ANN401
    from generator.parts import Parts

    return Parts(**_given(reader=reader, verifier=verifier, reranker=reranker))


with_parts = gathered(
    "parts",
    _parts,
    click.option(
        "--reader", metavar="NAME",
        help="Model that finds the sentences and words that answer: multilingual-e5-small "
        "(by default only where the packaged one is unsure, or not in English), "
        "all-mpnet-base-v2 (larger, in English; by default where installed), or folder or hub "
        "name, for extractive question answering.  [default: packaged]",
    ),
    click.option(
        "--verifier", metavar="NAME",
        help="Model that says whether evidence supports a sentence: folder or hub name, for "
        "inference (NLI) or unsupported tokens.  [default: packaged]",
    ),
    click.option(
        "--reranker", metavar="NAME",
        help="Model that orders the passages found: folder or hub name of a cross-encoder, or "
        "openai:BASE_URL#MODEL for a server with /rerank.  [default: none]",
    ),
)  # fmt: skip


def _generation(
    generator: str | None,
    decoding: str | None,
    prompt_tokens: int | None,
    ms_poe: str | None,
    max_tokens: int | None,
    sees: bool,
    withhold: float | None,
    parts: Parts,
) -> GeneratorSettings:
    from generator.settings import GeneratorSettings

    values = _given(
        model=generator, decoding=decoding, budget_tokens=prompt_tokens, ms_poe=ms_poe,
        max_new_tokens=max_tokens, sees=sees, withhold=withhold,
    )  # fmt: skip
    return GeneratorSettings(parts=parts, **values)


with_generation = gathered(
    "generation",
    _generation,
    click.option(
        "--generator",
        help="Language model for generated answers: packaged name, folder, hub name, or "
        "openai:BASE_URL#MODEL.  [default: packaged]",
    ),
    click.option(
        "--decoding", type=click.Choice(DECODINGS),
        help="How a generated answer reads the evidence: in one prompt, one prompt per passage, or "
        "only the best quotes.  [default: quotes for the packaged model, else concat]",
    ),
    click.option(
        "--prompt-tokens", type=click.IntRange(min=1),
        help="Maximum length of a prompt.  [default: 800 on a CPU, else 3000; the model's window "
        "for documents]",
    ),
    click.option(
        "--ms-poe", type=click.Choice(["calibrated", "on", "off"]),
        help="Multi-scale positions, for evidence in the middle of a prompt.  "
        "[default: calibrated]",
    ),
    click.option(
        "--max-tokens", type=click.IntRange(min=1),
        help="Maximum length of a generated answer.  [default: 200]",
    ),
    with_sees,
    with_withhold,
    with_parts,
)  # fmt: skip


def suited(generation: GeneratorSettings, fields: Mapping[str, Any]) -> GeneratorSettings:
    """Settings that suit the fields of requests as well."""
    evidence = fields["evidence"] or generation.evidence
    return replace(generation, evidence=evidence, answerable=fields["abstain_below"])


with_collection = click.option(
    "--collection", metavar="NAME", default="default", show_default=True,
    help="Collection that documents are added to; made if there is none of this name.",
)  # fmt: skip


def print_result(as_json: bool, values: object, print_text: Callable[[], None]) -> None:
    """Print values as JSON, or let the text be printed."""
    if as_json:
        terminal.say_json(json.dumps(values, ensure_ascii=not terminal.is_unicode(), indent=2))
    else:
        print_text()


@contextmanager
def open_corpus(folder: Path, **settings: Any) -> Iterator[Corpus]:  # noqa: ANN401 - passed through
    """A corpus with settings, as `Corpus` takes them; what takes long is said on standard error."""
    from rag_app.corpus.corpus import Corpus

    with Corpus(folder, notify=terminal.notify, **settings) as corpus:
        yield corpus
