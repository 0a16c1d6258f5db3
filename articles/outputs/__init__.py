"""Personal feeds from stored articles."""
