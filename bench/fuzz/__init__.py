"""Hostile calls, frames and transcript lines, by chance but repeatable."""
