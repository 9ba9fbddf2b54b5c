"""How an agent gets better: one algorithm, one readable file."""
