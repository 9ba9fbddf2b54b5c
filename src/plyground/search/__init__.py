"""Searching ahead: alpha-beta and tree search."""
