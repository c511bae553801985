"""A store in, shards of it out, published whole and searched as one, here or on a Ray cluster."""
