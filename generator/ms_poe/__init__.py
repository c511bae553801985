"""A causal language model in, the same model out with each head on its own position scale."""
