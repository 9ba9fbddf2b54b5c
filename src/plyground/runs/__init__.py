"""A run is a directory that may be killed at any moment, moved, resumed and read."""
