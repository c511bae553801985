"""What waits for the models: questions and uploads in, one after another out."""
