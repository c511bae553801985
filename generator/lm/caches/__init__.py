"""Keys and values of tokens in, the same out for the next tokens: kept, grown, measured."""
