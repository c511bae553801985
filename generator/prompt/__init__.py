"""A question, evidence and history in, token ids of a prompt out."""
