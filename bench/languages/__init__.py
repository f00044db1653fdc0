"""How good is search in other languages than English? See `python -m bench.languages --help`."""
