"""Options that commands share, and the settings made from their values."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from indexing.limits import MIB, FileLimits
from indexing.ocr.reading import OcrSettings
from rag_app.cli import terminal
from rag_app.request_fields import Act, RequestField, Surface, fields_of, request_field

if TYPE_CHECKING:
    from generator.parts import Parts
    from generator.settings import GeneratorSettings
    from rag_app.corpus.cluster.workers import RayWorkers

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]

AnyPath = click.Path(path_type=Path)

# Written out, so that help loads no library; `test_options.py` compares the tables.
DECODINGS = ["concat", "rag-token", "rag-sequence", "quotes"]
EXTENSIONS = ["none", "pcw", "gp", "rp", "pi", "ntk", "self-extend"]
OCR_ENGINES = ["rapidocr", "tesseract"]
TUNED = "tuned:"
ENTROPY = "+entropy"


class Extension(click.Choice):  # type: ignore[type-arg, unused-ignore]
    """A method of `EXTENSIONS`, or `tuned:FILE`: positions that `rag-app tune` has trained.

    With `+entropy` after its name, a method scales the attention queries as well.
    """

    def __init__(self) -> None:
        super().__init__(EXTENSIONS)

    def get_metavar(self, *_: Any, **__: Any) -> str:  # noqa: ANN401 - as in any click
        """Shows the file as well."""
        return f"[{'|'.join(EXTENSIONS)}|NAME{ENTROPY}|{TUNED}FILE]"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - click's own signature
        """A name as it is; the file is read with the encoder."""
        if isinstance(value, str) and value.startswith(TUNED) and value != TUNED:
            return value
        if isinstance(value, str) and value.endswith(ENTROPY):
            return super().convert(value.removesuffix(ENTROPY), param, ctx) + ENTROPY
        return super().convert(value, param, ctx)


class RenamedOption(click.Option):
    """An option whose former name still works, but is not shown in help.

    Args:
        declarations: As for `click.Option`.
        former: The former name, with its dashes.
        attributes: As for `click.Option`.
    """

    def __init__(self, declarations: Sequence[str], *, former: str, **attributes: Any) -> None:  # noqa: ANN401 - click's own signature
        super().__init__(declarations, **attributes)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:  # noqa: ANN401 - a private type of click's
        """Accept both names."""
        super().add_to_parser(parser, ctx)
        former = copy(self)
        former.opts = [self.former]
        click.Option.add_to_parser(former, parser, ctx)


def together(*options: Option[Any]) -> Option[Any]:
    """Several options as one decorator; help shows them in this order."""

    def added(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def gathered(name: str, make: Callable[..., Any], *options: Option[Any]) -> Option[Any]:
    """Several options that reach the command as one parameter.

    Args:
        name: Of that parameter.
        make: Makes its value of theirs; its parameters are called as they are.
        options: As for `together`.
    """
    parts = tuple(inspect.signature(make).parameters)

    def added(command: Command) -> Command:
        @wraps(command)
        def called(*positional: Any, **values: Any) -> Any:  # noqa: ANN401 - as in any click
            whole = make(**{part: values.pop(part) for part in parts})
            return command(*positional, **values, **{name: whole})

        return cast(Command, together(*options)(called))

    return added


Numbers = tuple[int, ...] | None


def numbers(*, least: int = 1) -> Callable[[click.Context, click.Parameter, str | None], Numbers]:
    """A callback that reads whole numbers with commas between them, each once."""

    def read(context: click.Context, option: click.Parameter, value: str | None) -> Numbers:
        words = value.split(",") if value else []
        try:
            values = tuple(dict.fromkeys(map(int, words)))
        except ValueError:
            values = (least - 1,)
        if values and min(values) < least:
            raise click.BadParameter(f"{value!r} is not a list such as 256,1024")
        return values or None

    return read


CLUSTER = "rag_app.cluster"
"""In a context's `meta`: the cluster that --corpus names, as HOST:PORT."""


class CorpusPlace(click.Path):
    """A folder, or ray://HOST:PORT/NAME, of which the cluster gives the folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - click's own signature
        """The folder as a path."""
        if not (isinstance(value, str) and value.startswith("ray://")):
            return super().convert(value, param, ctx)
        from rag_app.corpus.cluster.address import CorpusAddress

        address = CorpusAddress.of(value)
        if ctx is not None:
            ctx.meta[CLUSTER] = address.cluster
        return address.folder()


class ClusterPlace(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """HOST:PORT of a Ray cluster, written as that or as ray://HOST:PORT."""

    name = "HOST:PORT"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """The address as Ray takes it."""
        return str(value).removeprefix("ray://").rstrip("/")


with_corpus = click.option(
    "--corpus",
    "folder",
    type=CorpusPlace(),
    envvar="RAG_APP_CORPUS",
    show_envvar=True,
    default=".rag-app",
    show_default=True,
    help="Folder of the corpus, or ray://HOST:PORT/NAME of one on a Ray cluster.",
)

with_synchronous = click.option(
    "--synchronous",
    type=click.Choice(["normal", "full"]),
    default="normal",
    show_default=True,
    help="What a power cut may take: the latest documents (normal), or nothing (full, slower).",
)

with_wait = click.option(
    "--wait",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    help="Seconds to wait for others who write to the corpus.",
)

with_yes = click.option("--yes", is_flag=True, help="Do not ask.")
with_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

with_encoder = together(
    click.option(
        "--encoder",
        help="Encoder model: packaged name, folder, hub name, or openai:BASE_URL#MODEL.  "
        "[default: packaged]",
    ),
    click.option(
        "--extension",
        type=Extension(),
        help="Method for documents longer than the model's window.  [default: pcw]",
    ),
    click.option("--max-length", type=click.IntRange(min=8), help="Window size in tokens."),
    click.option(
        "--dtype",
        type=click.Choice(["auto", "float32", "bfloat16"]),
        help="Compute dtype.  [default: auto]",
    ),
)


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


with_file_limits = gathered(
    "limits",
    _limits,
    click.option(
        "--max-file-mb",
        type=click.IntRange(min=1),
        default=_LIMITS.bytes // MIB,
        show_default=True,
        help="Refuse files larger than this.",
    ),
    click.option(
        "--max-file-seconds",
        type=click.IntRange(min=1),
        default=_LIMITS.seconds,
        show_default=True,
        help="CPU time that reading one file may take.",
    ),
    click.option(
        "--max-file-memory-mb",
        type=click.IntRange(min=64),
        default=_LIMITS.memory // MIB,
        show_default=True,
        help="Memory that reading one file may take.",
    ),
    click.option(
        "--max-file-characters",
        type=click.IntRange(min=1),
        default=_LIMITS.characters,
        show_default=True,
        help="Text that one file may hold.",
    ),
)


def _workers(ray: str | None, ray_cpus: float, ray_gpus: float) -> RayWorkers | None:
    from rag_app.corpus.cluster.workers import RayWorkers

    address = ray or click.get_current_context().meta.get(CLUSTER)
    return RayWorkers(address, ray_cpus, ray_gpus) if address else None


with_workers = gathered(
    "workers",
    _workers,
    click.option(
        "--ray",
        type=ClusterPlace(),
        metavar="HOST:PORT",
        help="Let the workers of this Ray cluster do it.  [default: the cluster that --corpus "
        "names, else this process]",
    ),
    click.option(
        "--ray-cpus",
        type=click.FloatRange(min=0),
        default=1,
        show_default=True,
        metavar="N",
        help="With --ray, cores of each worker.",
    ),
    click.option(
        "--ray-gpus",
        type=click.FloatRange(min=0),
        default=0,
        show_default=True,
        metavar="N",
        help="With --ray, GPUs of each worker; 0.25 lets four share one.",
    ),
)

with_missing_shards = click.option(
    "--missing-shards",
    type=click.Choice(["fail", "answer"]),
    default="fail",
    show_default=True,
    help="When a shard on a Ray cluster is lost: fail, or answer from the others and say so.",
)

with_withhold = click.option(
    "--withhold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="In place of --abstain-below: withhold at most this share of the answerable questions, "
    "such as 0.05, by what `calibrate --part abstention` found for the corpus.",
)


def _examples(_context: click.Context, _option: click.Parameter, path: Path | None) -> Any:  # noqa: ANN401 - the type lives in a heavy module
    if path is None:
        return ()
    from generator.prompt.worked_question import read_worked_questions

    return read_worked_questions(path)


with_examples = click.option(
    "--examples",
    type=AnyPath,
    callback=_examples,
    help="Worked questions for a generated answer: JSON lines of question, evidence, answer, and "
    "figures, a list of files.",
)

with_sees = click.option(
    "--sees",
    is_flag=True,
    help="The model, behind a server, sees: show it the figures beside the evidence.",
)

with_generator = together(
    click.option(
        "--generator",
        help="Language model for generated answers: packaged name, folder, hub name, or "
        "openai:BASE_URL#MODEL.  [default: packaged]",
    ),
    click.option(
        "--decoding",
        type=click.Choice(DECODINGS),
        help="How a generated answer reads the evidence: in one prompt, one prompt per passage, or "
        "only the best quotes.  [default: quotes for the packaged model, else concat]",
    ),
    click.option(
        "--prompt-tokens",
        type=click.IntRange(min=1),
        help="Maximum length of a prompt.  [default: 800 on a CPU, else 3000; the model's window "
        "for documents]",
    ),
    click.option(
        "--ms-poe",
        type=click.Choice(["calibrated", "on", "off"]),
        help="Multi-scale positions, for evidence in the middle of a prompt.  "
        "[default: calibrated]",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(min=1),
        help="Maximum length of a generated answer.  [default: 200]",
    ),
    with_sees,
    with_withhold,
)


def _parts(reader: str | None, verifier: str | None, reranker: str | None) -> Any:  # noqa: ANN401
    from generator.parts import Parts

    default = Parts()
    return Parts(
        reader or default.reader, verifier or default.verifier, reranker or default.reranker
    )


with_parts = gathered(
    "parts",
    _parts,
    click.option(
        "--reader",
        metavar="NAME",
        help="Model that finds the sentences and words that answer: folder or hub name, for "
        "extractive question answering.  [default: packaged]",
    ),
    click.option(
        "--verifier",
        metavar="NAME",
        help="Model that says whether evidence supports a sentence: folder or hub name, for "
        "inference (NLI) or unsupported tokens.  [default: packaged]",
    ),
    click.option(
        "--reranker",
        metavar="NAME",
        help="Model that orders the passages found: folder or hub name of a cross-encoder, or "
        "openai:BASE_URL#MODEL for a server with /rerank.  [default: none]",
    ),
)

with_collection = click.option(
    "--collection",
    metavar="NAME",
    default="default",
    show_default=True,
    help="Collection that documents are added to; made if there is none of this name.",
)


def field_option(one: RequestField, **changes: Any) -> Option[Any]:  # noqa: ANN401 - click's own
    """The option of a field of a request."""
    usual = one.default if one.choices and one.default is not None else None
    attributes: dict[str, Any] = {
        "type": _option_type(one),
        "help": one.help,
        "default": None if one.kind is list else one.default,
        "metavar": one.metavar,
        "multiple": one.kind is tuple,
        "show_default": one.kind is int or usual is not None,
    }
    if one.former:
        attributes |= {"cls": RenamedOption, "former": one.former}
    if one.kind is tuple:
        attributes["help"] = f"{one.help}  Repeatable."
    return click.option(one.option, one.name, **(attributes | changes))


def _option_type(one: RequestField) -> click.ParamType[Any] | None:
    if one.choices:
        return click.Choice(one.choices)
    if one.kind is list:
        return AnyPath
    if one.kind is float:
        return click.FloatRange(one.least, one.most)
    return click.IntRange(1) if one.kind is int else None


def with_fields(surface: Surface, act: Act, *names: str) -> Option[Any]:
    """The options of the fields of a request, which reach the command as one mapping, `fields`.

    Args:
        surface: Which takes them.
        act: What the command does.
        names: Only these of the fields; none for all.
    """
    taken = [one for one in fields_of(surface, act) if not names or one.name in names]

    def added(command: Command) -> Command:
        @wraps(command)
        def called(*positional: Any, **values: Any) -> Any:  # noqa: ANN401 - as in any click
            fields = {one.name: values.pop(one.name) for one in taken}
            if fields.get("history"):
                from rag_app.batch.questions import read_turns

                fields["history"] = read_turns(fields["history"])
            return command(*positional, fields=fields, **values)

        return cast(Command, together(*map(field_option, taken))(called))

    return added


LIMITS_OF_LISTS = ("collections", "since", "until", "participants")
"""The fields that limit a list of documents."""

with_k = field_option(request_field("k"))
with_collections = field_option(request_field("collections"))


def encoder_settings(
    model: str | None, extension: str | None, max_length: int | None, dtype: str | None
) -> Any:  # noqa: ANN401 - the type lives in a heavy module
    """Settings from flags; None when no flag was given, so that the corpus's own count."""
    from indexing.encoder.settings import EncoderSettings

    if not (model or extension or max_length or dtype):
        return None  # the settings that the corpus was made with
    default = EncoderSettings()
    return EncoderSettings(
        model=model or default.model,
        extension=extension or default.extension,
        max_length=max_length,
        dtype=dtype or default.dtype,
    )


def generator_settings(
    model: str | None,
    decoding: str | None,
    prompt_tokens: int | None,
    ms_poe: str | None,
    max_tokens: int | None,
    sees: bool,
    withhold: float | None,
    parts: Parts,
    fields: Mapping[str, Any],
) -> GeneratorSettings:
    """Settings from flags, and from the fields of requests that they are to suit."""
    from generator.settings import GeneratorSettings

    default = GeneratorSettings()
    return replace(
        default,
        model=model or default.model,
        decoding=decoding or default.decoding,
        evidence=fields["evidence"] or default.evidence,
        budget_tokens=prompt_tokens,
        ms_poe=ms_poe or default.ms_poe,
        max_new_tokens=max_tokens or default.max_new_tokens,
        sees=sees,
        answerable=fields["abstain_below"],
        withhold=withhold,
        parts=parts,
    )


def print_result(as_json: bool, values: object, print_text: Callable[[], None]) -> None:
    """Print values as JSON, or let the text be printed."""
    if as_json:
        terminal.say_json(json.dumps(values, ensure_ascii=not terminal.is_unicode(), indent=2))
    else:
        print_text()
