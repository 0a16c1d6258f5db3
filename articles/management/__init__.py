"""Commands about articles and their readers."""
