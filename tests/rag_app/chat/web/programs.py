"""What programs ask of the server."""

QUESTION = "What is the final launch date of Heron?"
