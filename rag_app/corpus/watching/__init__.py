"""Folders that change and questions that stand in, what happened and each new place out."""
