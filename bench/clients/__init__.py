"""Many agents at once: what each costs to start, and what a daemon shared by all of them withstands."""
