"""An hour of load, to find growth over time."""
