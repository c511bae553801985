"""Documents of meetings -> a register: decisions, actions and open questions, chained over all.

Every entry is a quote; what became of a matter is only what a sentence says of it. No model runs.
"""
