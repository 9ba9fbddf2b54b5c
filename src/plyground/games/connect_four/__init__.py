"""Connect Four: all that is particular to it."""
