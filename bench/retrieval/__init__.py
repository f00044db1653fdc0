"""Quality of search. See `python -m bench.retrieval --help`."""
