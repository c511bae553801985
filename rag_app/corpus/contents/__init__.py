"""A store in, what it holds out: documents, collections, speakers, to be listed and changed."""
