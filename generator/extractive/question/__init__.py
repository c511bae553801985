"""A question in, what would answer it out: a type, a kind of value, a unit."""
