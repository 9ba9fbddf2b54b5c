"""Reports, learning curves and pictures."""
