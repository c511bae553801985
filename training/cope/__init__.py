"""CoPE's own tasks: in, seeds; out, the error of absolute, rotary and contextual positions.

The tasks of Golovneva et al., arXiv 2405.18719: selective copy, flip-flop, counting, and how often
a name occurs in the last sentence. `python -m training.cope` trains a small transformer on each.
"""
