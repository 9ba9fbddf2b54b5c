"""Chess: all that is particular to it."""
