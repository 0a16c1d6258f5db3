"""Sign-in for assistants: programs that read and act for a person over /mcp, by OAuth 2.1."""
