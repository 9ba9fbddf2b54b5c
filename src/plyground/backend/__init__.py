"""The seam between devices: games, batches, views and priorities in torch tensors, on a CPU or a GPU by its name."""
