"""Attacks on the program, seeded: files and corpora go in, a table of trials comes out."""
