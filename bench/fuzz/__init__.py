"""Hostile calls, frames and transcript lines: random, but repeatable by a seed."""
