"""Measuring: retrieval of whole documents, of evidence, and of needles in a person's own files."""
