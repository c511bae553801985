"""Arrays in, arrays out: compiled C code for single tokens and rotations."""
