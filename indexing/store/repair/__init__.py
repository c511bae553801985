"""A damaged database in, what is damaged out, and all that can be saved."""
