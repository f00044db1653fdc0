"""Distilling: what a conversation leaves behind, told from its words alone."""
