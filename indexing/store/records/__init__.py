"""Rows of the database in; documents and passages out."""
