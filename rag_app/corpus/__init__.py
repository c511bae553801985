"""Files and questions in, hits and answers out: the Python interface."""
