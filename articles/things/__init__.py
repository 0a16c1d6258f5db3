"""Pages of things that articles are about or come from: people, topics and sites."""
