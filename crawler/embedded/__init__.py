"""Freshet on one machine with no server installed: PostgreSQL from a wheel, and a supervisor for the rest."""
