"""A language model in, its best settings out: Ms-PoE or not, quotes or generated answers."""
