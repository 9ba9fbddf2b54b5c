"""Matches in pairs and what they say about strength."""
