"""Pages of things that articles are about or come from: people, organisations, topics and sites."""
