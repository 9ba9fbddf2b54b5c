"""Connect Four, solved: exact scores of positions and moves, and the opening book that makes them quick."""
