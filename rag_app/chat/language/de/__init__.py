"""A message in English, or a German statement in; in German, or the question it answers, out."""
