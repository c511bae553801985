"""A message in English in, the same in the reader's language out.

What the page says by itself goes through gettext, with a catalogue a language; what documents and
people say never does. A message without a translation stays English.
"""
