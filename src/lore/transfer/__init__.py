"""Transfer: memories as files: Lore's own export format, and readers of other systems' files."""
