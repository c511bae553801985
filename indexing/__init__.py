"""Files to documents to vectors: the layer beneath everything else."""
