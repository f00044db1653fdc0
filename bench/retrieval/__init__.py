"""How good is what Lore finds? See `python -m bench.retrieval --help`."""
