"""Saved pages: what people keep to read, with their notes; read from addresses, apps, mail and files."""
