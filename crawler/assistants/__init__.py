"""The door for assistants: the tools, resources and prompts of the Model Context Protocol at /mcp."""
