"""Questions and uploads in, the same one after another out: queues for the models."""
