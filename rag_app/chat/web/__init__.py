"""HTTP in, HTTP out: the server, its API, tools and access control."""
