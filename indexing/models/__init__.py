"""The name of a model in, its files, device and dtype out."""
