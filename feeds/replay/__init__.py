"""The replay laboratory: policies driven over recorded posting times, with the simulated clock of a crawler.

Pure: numpy in, numbers out. The policies and histories are the very objects of the live tick.
"""
