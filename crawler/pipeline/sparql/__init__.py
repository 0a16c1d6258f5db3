"""SPARQL on a replica of the graph: snapshots that follow PostgreSQL, asked in killable children."""
