"""A question and the passages of two searches -> every place that answers, and how many more."""
