"""Commands about documents: words in, a corpus and its answers out."""
