"""The page: a server on this machine, and what a browser loads from it."""
