"""A question, its evidence and history in; the token ids of a prompt out."""
