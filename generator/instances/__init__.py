"""A question and passages of two searches -> every passage that answers, and how many are missed."""
