"""A prompt in, text out: language models on this machine and behind a server."""
