"""How the weights that ship were trained, and studies: README.md says which folder is what."""
