"""Recrawl methods, one file for each kind. Pure."""
