"""Transcripts in each program's format: a file in, utterances with speakers and times out."""
