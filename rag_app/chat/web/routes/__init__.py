"""HTTP requests in, responses out: what the page asks of the server, a route a file."""
