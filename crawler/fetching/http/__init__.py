"""The crawler's HTTP layer: guarded connections, politeness, robots.txt, validators, named failures."""
