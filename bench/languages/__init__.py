"""Quality of search in languages other than English. See `python -m bench.languages --help`."""
