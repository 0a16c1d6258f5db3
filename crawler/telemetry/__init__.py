"""Logs, traces and progress of this process."""
