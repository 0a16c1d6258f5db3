"""Accounts of other feed readers, read over their interfaces and from their files, as plain values."""
