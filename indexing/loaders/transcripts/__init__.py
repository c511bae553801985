"""Transcripts as the programs write them: a file in, utterances with speakers and times out."""
