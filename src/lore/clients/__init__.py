"""clients: the agents' programs that Lore installs itself into, as data, and the edits of their files."""
