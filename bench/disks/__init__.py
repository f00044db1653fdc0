"""Power cuts, I/O errors and kills, at every point of every operation."""
