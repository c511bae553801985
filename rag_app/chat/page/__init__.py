"""Conversations and documents in, the page in the browser out."""
