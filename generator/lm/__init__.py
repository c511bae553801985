"""Token ids in, logits and text out: language models on this machine and behind a server."""
