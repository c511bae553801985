"""A prompt in, text out: a model behind an OpenAI-compatible server."""
