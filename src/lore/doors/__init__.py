"""Doors: how the world reaches Lore. They move bytes and decide nothing."""
