"""Commands that measure: benchmarks or own documents in, figures out."""
