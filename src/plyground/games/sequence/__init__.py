"""Sequence: all that is particular to it."""
