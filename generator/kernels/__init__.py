"""Weights, cache and hidden states in, logits out: C code for decode steps and rotations."""
