"""Many agents at once: the cost of starting each, and the load that their shared daemon withstands."""
