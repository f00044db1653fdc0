"""The version: the one number that packaging, the doors and the store's meta file agree on."""

VERSION = "0.2.0"
