"""Commands that keep a corpus safe: a corpus in, its damages, backups and exports out."""
