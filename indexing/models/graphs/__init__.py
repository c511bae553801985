"""A model in, the same as an ONNX graph out, converted once and kept."""
