"""Measuring topics: meetings with marked topics in, Pk and WindowDiff of each method out."""
