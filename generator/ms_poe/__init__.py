"""A causal language model in, the same out with each head or layer on its own position scale."""
