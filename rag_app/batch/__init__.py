"""Many questions, one file of answers that survives being killed, and a page to read."""
