-- Vectors with 16 bits per number. They replace `vector` (32 bits) and `embedding.code`: `compact` moves the
-- rows of an older file, and a later step drops what is empty then.

CREATE TABLE short_vector (
    memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
    model TEXT NOT NULL,
    data BLOB NOT NULL
) STRICT; -- data: a scale (32 bits), then an integer of 16 bits for each number; little-endian

CREATE TABLE vector_feed (
    tenant INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL
) STRICT; -- seq: the last number of the tenant's feed of vectors; none is given twice
INSERT INTO vector_feed (tenant, seq) SELECT tenant, max(seq) FROM embedding GROUP BY tenant;
