"""Question and evidence in, verbatim quotes or an abstention out."""
