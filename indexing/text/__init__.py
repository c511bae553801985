"""Text in, spans out: sentences, passages, utterances, terms."""
