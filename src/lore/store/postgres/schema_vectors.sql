-- Vectors that came from another database with more precision than halfvec has.

CREATE TABLE vector_rest (
    tenant integer NOT NULL,
    memory integer NOT NULL,
    rest bytea NOT NULL,
    PRIMARY KEY (tenant, memory),
    FOREIGN KEY (tenant, memory) REFERENCES memory (tenant, alias) ON DELETE CASCADE
); -- rest: the difference to the vector in `embedding` (halves.py); only `lore migrate` reads it
