"""A sentence of an answer and the evidence in, the verbatim span that supports it out, or none."""
