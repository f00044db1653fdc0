"""The official inspector and conformance suite against a real `lore-server`."""
