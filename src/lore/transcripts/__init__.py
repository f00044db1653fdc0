"""transcripts: the conversations that agents recorded, read from files and databases into turns."""
