"""What the program costs: time, memory and throughput, measured from a checkout.

In: a corpus, data, or nothing where the corpus is synthetic. Out: a table, or JSON. No package of
the product imports this one, and the wheel does not hold it. How good answers are is measured by
`rag-app evaluate`.
"""
