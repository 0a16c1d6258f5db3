"""Measurements of the interest model on logs, for commands and benchmarks."""
