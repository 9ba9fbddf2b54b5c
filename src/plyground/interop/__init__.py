"""Interfaces of other projects on top of the compiled rules."""
