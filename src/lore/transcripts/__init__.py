"""transcripts: what agents wrote down of their conversations, as turns; bytes and rows in, turns out."""
