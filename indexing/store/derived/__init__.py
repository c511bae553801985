"""Changes of documents in, what is derived from them in the same transaction out: by triggers."""
