"""The extractive reader: which sentences answer a question, which words, and whether any do."""
