"""Hostile documents, answers and hosts against the whole product: `python -m benchmarks.hostile`.

`poisons.py` is the table of poisons, `kinds.py` that of the kinds of work; a cell is one of each, on a host
of its own with healthy neighbours. docs/reliability.md says what is promised and how to read the table.
"""
