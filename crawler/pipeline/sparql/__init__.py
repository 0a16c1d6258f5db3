"""SPARQL on a replica of the graph: snapshots that follow PostgreSQL, queried in killable children."""
