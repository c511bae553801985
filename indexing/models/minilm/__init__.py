"""The packaged encoder with other positions: by rotation, or by context. Weights of our own."""
