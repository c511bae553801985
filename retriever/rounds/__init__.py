"""The share of each part of a corpus in, what all shares come to out: shards score as one."""
