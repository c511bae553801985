"""Arrays in, arrays out: C code, compiled once on this machine if it has a compiler."""
