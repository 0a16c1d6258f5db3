"""The replay of policies over recorded posting times, with the simulated clock of a crawler.

Pure: numpy in, numbers out. Uses the same policies and histories as the live tick.
"""
