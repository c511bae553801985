"""A language model and sentences in, those that it chooses out: it can write nothing else."""
