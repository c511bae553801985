"""A causal language model in, the same model out with positions rescaled a head (Ms-PoE)."""
