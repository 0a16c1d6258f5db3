"""What `make run` starts, watches, repairs and shows of the whole."""
