"""Attacks on Lore, each with a count of what got through."""
