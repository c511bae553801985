"""The command line from the first moment of its process: `rag-app`, and `python -m rag_app`."""

from __future__ import annotations

# `signal` imports `enum`, and Ctrl-C would interrupt that with a traceback.
import _signal as signal  # type: ignore[import-not-found]


def run() -> None:
    """Run the command line; until it is loaded, Ctrl-C ends the process without a traceback."""
    interrupted = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interrupted:  # and not ignored, as of a job in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from rag_app.cli.main import main

    if interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    main()


if __name__ == "__main__":
    run()
