"""The only way out to the web: guarded connections, politeness, robots, validators, named failures."""
