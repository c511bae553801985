"""Documents and questions in, vectors and answers from the machines of a Ray cluster out."""
