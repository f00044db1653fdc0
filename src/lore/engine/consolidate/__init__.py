"""Consolidation: the phases that run while nobody waits. This file is light; `phases` runs them."""
