"""Copies of a corpus: a corpus in, a backup or an archive out, and back."""
