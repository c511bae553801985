"""A store, as somebody may read it -> its register of meetings; a register -> files."""
