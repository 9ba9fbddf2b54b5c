"""The run directory: config, metrics and checkpoints of crash-safe runs with bit-exact resume."""
