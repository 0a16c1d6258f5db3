"""A language model of the deployment's own: questions about articles, and the answers that are kept."""
