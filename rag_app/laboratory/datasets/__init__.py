"""Files of benchmarks in, documents and questions with gold evidence out."""
