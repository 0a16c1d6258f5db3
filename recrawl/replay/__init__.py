"""Replay of recrawl methods on recorded histories of sites. Pure except for reading files."""
