"""Folders of strangers: how answers to their questions are graded."""
