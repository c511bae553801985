"""Short texts that differ in a number."""

TEXTS = {f"probe {n}": f"Probe {n} fell into lake {n}. Divers found it." for n in range(8)}
