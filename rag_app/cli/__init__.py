"""Command lines in, text or JSON out: a command a file."""
