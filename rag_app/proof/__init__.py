"""An answer, in: a file with its evidence, out, which anybody can check against the originals."""
