"""A language model in, what suits it out: Ms-PoE or not, quotes or generated answers."""
