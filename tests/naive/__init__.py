"""Slow, obvious twins, written from the rules; they share nothing with the compiled code."""
