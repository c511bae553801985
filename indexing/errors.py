"""Every error a person can meet, in one tree.

RagAppError
├── InputError                something given cannot be used
│   ├── UnreadableFile        a file or folder: which, what is wrong, what to do
│   │   ├── OtherKind         sound, but of a kind that its ending only may stand for
│   │   ├── PartUnread        what a file holds beside the text that was read
│   │   └── ProgramFault      this program failed over it; the file may be sound
│   ├── InvalidRequest        an empty question, an impossible filter or option
│   └── WorkersLost           every worker of a cluster that tried it has died
├── CorpusError               something about a corpus on disk
│   ├── CorpusNotFound        there is none at that place
│   ├── CorpusLocked          another process is writing to it
│   ├── CorpusDamaged         its database cannot be read
│   │   └── ManifestDamaged   which segments its index has cannot be; its documents may be sound
│   ├── CorpusReplaced        another file lies where it was opened, or none
│   ├── CorpusTooNew          a later version of this program wrote it
│   ├── EncoderMismatch       its vectors come from another encoder
│   ├── DocumentNotFound      no document by that id or path
│   ├── CollectionNotFound    no collection by that name
│   └── SpeakerNotFound       nobody by that name speaks in these documents
├── ModelError                something about a model
│   ├── ModelNotFound         no weights by that name here or on the hub
│   ├── UnsupportedModel      its architecture or limits do not allow what was asked
│   └── ServerFailed          the server that it is behind is out of reach, or refuses
├── ClusterLost               a Ray cluster does not answer any more
├── ReaderFailed              the process that reads files cannot be started
├── Busy                      too many questions are waiting for the model
└── MissingDependency         an optional library; the message is its install command

A message says what failed and what to do next, in that order.
"""

from __future__ import annotations

import errno

from indexing.message import N_


class RagAppError(Exception):
    """The root: what the command line prints as one line instead of a traceback."""

    def __reduce__(self) -> tuple[object, ...]:
        """As it is, whatever it was made of: errors are sent from process to process."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[RagAppError], arguments: tuple[object, ...]) -> RagAppError:
    return kind.__new__(kind, *arguments)


class InputError(RagAppError):
    """Something given cannot be used."""


class UnreadableFile(InputError):
    """A file or folder that cannot become documents.

    Attributes:
        path: The file as the person named it.
        reason: What is wrong with it.
        remedy: What to do about it.
    """

    def __init__(self, path: object, reason: str, remedy: str) -> None:
        super().__init__(
            N_("%(file)s: %(reason)s; %(remedy)s", file=path, reason=reason, remedy=remedy)
        )
        self.path = str(path)
        self.reason = reason
        self.remedy = remedy

    @classmethod
    def by_system(cls, path: object, error: OSError) -> UnreadableFile:
        """The error for a file that the system does not let us look at."""
        if isinstance(error, PermissionError):
            remedy = N_("give yourself the right to read it")
        elif error.errno == errno.ENAMETOOLONG:
            remedy = N_("move it to a place with a shorter name")
        else:
            remedy = N_("check the disk, and how the name is spelled")
        return cls(path, N_("cannot be read (%(error)s)", error=error.strerror or error), remedy)


class OtherKind(UnreadableFile):
    """A sound file of another kind than the one that is read under its ending.

    Settings and exports end in `.json` as meetings do. Found in a folder, such a file is passed
    over like any other kind; named by a person, it is an error.
    """


class PartUnread(UnreadableFile):
    """Something that a file holds beside its text: pages without any, attachments, footnotes.

    The rest of the file is read. A loader yields it after the text, so that nothing is left out in
    silence.
    """


class ProgramFault(UnreadableFile):
    """This program, or its installation, failed over a file, which may be sound."""


class InvalidRequest(InputError):
    """An empty question, an impossible filter or option."""


class WorkersLost(InputError):
    """A document or a question at which one worker of a cluster after the other has died."""

    def __init__(self, what: str, tries: int) -> None:
        self.reason = f"{tries} workers of the cluster have died at it, probably for want of memory"
        self.remedy = (
            "see Ray's logs in /tmp/ray; give each worker more of its machine with --ray-cpus, or "
            "do it without --ray"
        )
        super().__init__(f"{what}: {self.reason}; {self.remedy}")


class ClusterLost(RagAppError):
    """A Ray cluster does not answer any more; what came from it before is kept."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            f"{address}: the Ray cluster does not answer ({reason}); what is done is kept; start "
            "the cluster again and run the same command"
        )


class CorpusError(RagAppError):
    """Something about a corpus on disk."""


class CorpusNotFound(CorpusError):
    """There is no corpus at that place."""


class CorpusLocked(CorpusError):
    """Another process is writing to the corpus."""


class CorpusDamaged(CorpusError):
    """The corpus database cannot be read."""


class ManifestDamaged(CorpusDamaged):
    """Which segments a corpus's index has cannot be read; its documents may be sound."""


class CorpusReplaced(CorpusError):
    """Another file lies where a corpus was opened, or none."""


class CorpusTooNew(CorpusError):
    """A later version of this program wrote the corpus."""


class EncoderMismatch(CorpusError):
    """The vectors in the corpus come from another encoder."""


class DocumentNotFound(CorpusError):
    """No document by that id or path."""


class CollectionNotFound(CorpusError):
    """No collection by that name."""


class SpeakerNotFound(CorpusError):
    """Nobody by that name speaks in these documents."""


class ShardLost(CorpusError):
    """A shard of the corpus does not answer, on any machine that has it."""

    def __init__(self, shard: str, reason: str) -> None:
        super().__init__(
            N_(
                "shard %(name)s: no replica of it answers (%(reason)s); see which machines are "
                "there with: ray status; or search on this machine alone: rag-app cluster init "
                "--shards N, without --ray",
                name=shard,
                reason=reason,
            )
        )
        self.shard = shard


class ModelError(RagAppError):
    """Something about a model."""


class ModelNotFound(ModelError):
    """No weights by that name, here or on the hub."""


class UnsupportedModel(ModelError):
    """The model's architecture or limits do not allow what was asked."""


class ServerFailed(ModelError):
    """The server that a model is behind is out of reach, refuses, or breaks off."""


class ReaderFailed(RagAppError):
    """The process that reads files cannot be started."""


class Busy(RagAppError):
    """Too many questions are waiting for the model."""


class MissingDependency(RagAppError):
    """An optional library is missing."""

    def __init__(self, library: str, purpose: str, install: str) -> None:
        super().__init__(f"{purpose} needs {library}, which is not installed; run: {install}")
        self.install = install
