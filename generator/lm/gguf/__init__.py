"""A prompt in, text out: GGUF files in llama.cpp, as they are."""
