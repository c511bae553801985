"""A store in, its contents out: documents, collections and speakers, to list and to change."""
