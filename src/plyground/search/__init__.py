"""Searching ahead: alpha-beta."""
