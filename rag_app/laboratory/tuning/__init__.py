"""A person's documents in, new positions for an encoder out, and a verdict on them."""
