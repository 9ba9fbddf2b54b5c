"""Paco Ŝako: all that is particular to it."""
