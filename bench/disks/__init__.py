"""Bad days for a disk: power cuts, I/O errors and kills, at every point of every operation."""
