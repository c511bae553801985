"""The name of a model behind a server in, its answers out: an address, and JSON."""
