"""The pages about feeds."""
