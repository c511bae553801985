"""The packaged encoder with other positions, rotary or contextual. Weights of our own."""
