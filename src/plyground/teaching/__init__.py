"""Datasets of a teacher's evaluations: collecting, checking, inspecting; and the verification of imitation runs."""
