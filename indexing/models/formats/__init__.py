"""A file of weights in another format in, a folder of safetensors out: converted once, kept."""
