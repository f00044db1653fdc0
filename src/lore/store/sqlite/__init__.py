"""SQLite: the embedded database. All SQL is here, and all that knows about the file."""
