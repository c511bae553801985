"""A document in; its parts, the pictures of its pages and its recording out, for people to read."""
