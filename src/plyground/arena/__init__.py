"""Matches in pairs, ratings, ladders and sequential tests."""
