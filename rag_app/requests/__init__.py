"""A question in, the request that it makes of the corpus out, and its answer if it needs no search.

Most questions are looked up. Some ask of the corpus itself, and are answered by counting or listing
what is in the store: which documents there are, who speaks in one, where something is mentioned.
How a question was read is shown with its answer. English forms only; a question in another language
is looked up.
"""
