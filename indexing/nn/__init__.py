"""What encoders and language models share: hooks, architectures, rotary embeddings."""
