"""Text in, dates out: written in it, stated by it, or meant by it."""
