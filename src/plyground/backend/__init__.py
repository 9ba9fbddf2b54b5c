"""The same games on a GPU: what `batch.py` and `game.py` do, with torch's tensors in place of numpy's arrays."""
