"""The encoder and the generator of a corpus, each loaded once, when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from indexing.encoder.fingerprint import Fingerprint, check_fingerprint, refuse_foreign
from indexing.encoder.settings import EncoderSettings
from indexing.errors import InvalidRequest, MissingDependency, UnsupportedModel
from indexing.models.files import has_large
from indexing.models.server.server_name import is_remote
from rag_app.corpus.embedding_cache import EmbeddingCache

if TYPE_CHECKING:
    from generator.extractive.conformal import AbstentionRecord
    from generator.generator import Generator
    from generator.settings import GeneratorSettings
    from indexing.encoder.encoder import Encoder
    from indexing.encoder.lookahead import Lookahead
    from indexing.encoder.query_encoder import QueryEncoder
    from indexing.encoder.server_encoder import ServerEncoder
    from rag_app.corpus.cluster.workers import RayWorkers

    AnyEncoder = Encoder | ServerEncoder
    """On this machine, or behind a server."""


class Models:
    """The encoder and the generator of a corpus."""

    def __init__(
        self,
        corpus: Path,  # the folder of the corpus, for messages
        *,
        # how to encode, or an encoder that is loaded already; None takes what the corpus was made
        # with, or the packaged default
        encoder: EncoderSettings | AnyEncoder | None,
        generator: GeneratorSettings | None,  # how to answer
        # whether questions go through graphs, which are ready at once, where there can be any; else
        # through the models, which take seconds to load and less for each question
        quick_start: bool,
        # called with a sentence before anything that takes long
        notify: Callable[[str], None] | None,
    ) -> None:
        self._corpus = corpus
        self._encoder: AnyEncoder | None = None
        self._encoder_settings: EncoderSettings | None = None
        if encoder is None or isinstance(encoder, EncoderSettings):
            self._encoder_settings = encoder
        else:
            self._encoder, self._encoder_settings = encoder, encoder.settings
        self._queries: QueryEncoder | None = None
        self._quick_start = quick_start and encoder is None
        self._generator: Generator | None = None
        self._generator_settings = generator
        self._key: str | None = None
        self._notify = notify
        self._loading = threading.RLock()

    @property
    def generator_settings(self) -> GeneratorSettings:
        """How it answers."""
        from generator.settings import GeneratorSettings

        return self._generator_settings or GeneratorSettings()

    def use_generator(self, settings: GeneratorSettings, *, key: str | None) -> None:
        """Answer in another way from the next question on; one in progress ends as it began."""
        with self._loading:
            self._generator_settings, self._key = settings, key
            self._generator = None

    def close(self) -> None:
        """Let go of both."""
        self._encoder = self._queries = self._generator = None

    def query_encoder(self, stored: Fingerprint | None) -> AnyEncoder | QueryEncoder:
        """What encodes queries: a graph under `quick_start`, else the encoder; as in `encoder`."""
        if self._quick_start and stored is not None and self._encoder is None:
            refuse_foreign(stored, self._corpus)
            with self._loading:
                if self._queries is None or self._queries.fingerprint != stored:
                    from indexing.encoder.query_encoder import query_encoder

                    self._queries = query_encoder(stored, notify=self._notify)
                    self._generator = None  # it embeds with the encoder
                if self._queries is not None:
                    return self._queries
        return self.encoder(stored)

    def encoder(self, stored: Fingerprint | None) -> AnyEncoder:
        """The encoder that made the corpus, or the one asked for where it is empty.

        Raises:
            EncoderMismatch: They were made in another way than the one asked for.
        """
        refuse_foreign(stored, self._corpus)
        with self._loading:
            if self._encoder is None or self._reencoded(stored):
                self._encoder = self._load(self._encoder_settings or settings_of(stored))
                self._generator = None  # it embeds with the encoder
            encoder = self._encoder
        check_fingerprint(stored, encoder.fingerprint, self._corpus)
        return encoder

    def encoder_on(self, workers: RayWorkers, stored: Fingerprint | None) -> Lookahead:
        """As `encoder`, by the workers of a cluster; nothing is loaded here."""
        refuse_foreign(stored, self._corpus)
        encoder = self.new_encoder_on(workers, self._encoder_settings or settings_of(stored))
        check_fingerprint(stored, encoder.fingerprint, self._corpus)
        return encoder

    def new_encoder_on(
        self, workers: RayWorkers, settings: EncoderSettings | None = None
    ) -> Lookahead:
        """As `new_encoder`, by the workers of a cluster."""
        from rag_app.corpus.cluster.encoding import encoder_on

        settings = settings or self._encoder_settings or EncoderSettings()
        return encoder_on(workers, settings, notify=self._notify)

    def prepare(self, stored: Fingerprint) -> None:
        """Export the graphs of a quick start that are not there yet."""
        from generator.extractive.context.late_chunking import context_graph
        from generator.reader.large_reader import prepare_large_reader
        from generator.reader.reading import reader_graph
        from indexing.encoder.query_encoder import query_encoder

        query_encoder(stored, notify=self._notify)
        with suppress(MissingDependency):  # the packaged encoder, which reads evidence
            context_graph(self._notify)
            reader_graph(notify=self._notify)
        if has_large():
            with suppress(OSError, UnsupportedModel):  # no room to unpack it; a damaged file
                prepare_large_reader(self._notify)

    def check(self, stored: Fingerprint | None) -> None:
        """Refuse a corpus that was encoded in another way, as `encoder` does.

        Nothing is loaded where the corpus's own encoder will do: where none was asked for.
        """
        if self._encoder_settings is None:
            refuse_foreign(stored, self._corpus)
        else:
            self.encoder(stored)

    def new_encoder(self) -> AnyEncoder:
        """The encoder asked for, whatever the corpus was made with."""
        return self._load(self._encoder_settings or EncoderSettings())

    def _load(self, settings: EncoderSettings) -> AnyEncoder:
        """The encoder of a name: on this machine, or behind the server that it gives."""
        if is_remote(settings.model):
            from indexing.encoder.server_encoder import ServerEncoder

            return ServerEncoder(settings)
        from indexing.encoder.encoder import Encoder

        return Encoder(settings, notify=self._notify)

    def use_encoder(self, encoder: AnyEncoder | None) -> None:
        """Use the encoder with which the corpus was encoded again; None to load it when needed."""
        self._encoder = encoder
        self._generator = None

    def generator(self, stored: Fingerprint | None) -> Generator:
        """The generator, its sentences embedded by the corpus's own encoder; as in `encoder`."""
        from generator.engine import load_model
        from generator.generator import Generator
        from generator.scales.cosine_scale import scale_of

        encoder = self.query_encoder(stored)
        with self._loading:
            if self._generator is None:
                settings = self._with_threshold(encoder.fingerprint)
                key = self._key
                embed = EmbeddingCache(encoder.encode_queries)
                self._generator = Generator(
                    settings,
                    embed=embed,
                    scale=scale_of(encoder.fingerprint, embed, notify=self._notify),
                    quick_start=self._quick_start,
                    notify=self._notify,
                    load=lambda: load_model(settings, notify=self._notify, key=key),
                )
            return self._generator

    def abstention(self, fingerprint: Fingerprint | None) -> AbstentionRecord | None:
        """What was calibrated for the corpus with the models in use; None for nothing."""
        from generator.extractive.conformal import load_abstention
        from generator.parts import models_digest

        record = load_abstention(self._corpus)
        if record is None or fingerprint is None:
            return None
        digest = models_digest(fingerprint, self.generator_settings.parts)
        return record if record.models == digest else None

    def _with_threshold(self, fingerprint: Fingerprint) -> GeneratorSettings:
        """The settings, a share that may be withheld turned into a probability.

        Raises:
            InvalidRequest: Nothing was calibrated for this corpus with these models.
        """
        settings = self.generator_settings
        if settings.withhold is None:
            return settings
        record = self.abstention(fingerprint)
        if record is None:
            raise InvalidRequest(
                f"{self._corpus}: no threshold was calibrated for it with these models; run: "
                f"rag-app calibrate --part abstention --corpus {quote(str(self._corpus))}"
            )
        return replace(settings, answerable=record.threshold(settings.withhold), withhold=None)

    def _reencoded(self, stored: Fingerprint | None) -> bool:
        """Whether the corpus was encoded again meanwhile, and this object follows it."""
        follows = self._encoder_settings is None and stored is not None
        return follows and self._encoder is not None and self._encoder.fingerprint != stored


def settings_of(fingerprint: Fingerprint | None) -> EncoderSettings:
    """The settings that vectors were made with; the packaged ones where there are none."""
    if fingerprint is None:
        return EncoderSettings()
    return EncoderSettings(
        model=fingerprint.model,
        extension=fingerprint.extension,
        max_length=fingerprint.max_length,
        dtype=fingerprint.dtype,
    )
