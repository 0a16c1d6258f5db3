"""Measurements that only commands make."""
