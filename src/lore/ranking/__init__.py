"""Ranking: pure functions from signals to scores. No I/O, no clock; the numbers live in `policy`."""
