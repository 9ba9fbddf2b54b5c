"""Datasets of a teacher's evaluations: collecting, checking, inspecting."""
