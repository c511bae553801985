"""Files to documents to vectors: the floor that everything else stands on."""
