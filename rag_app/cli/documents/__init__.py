"""Commands about documents, beside those in `main`: words in, a corpus and what it says out."""
