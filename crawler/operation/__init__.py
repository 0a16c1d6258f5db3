"""Operation of a deployment: its processes, health, retention, and the pages about the whole."""
