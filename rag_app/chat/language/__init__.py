"""A message in English in, the same in the language of whoever reads the page out.

What the page says by itself goes through gettext, with a catalogue a language; what documents and
people say never does. A message without a translation stays English.
"""
