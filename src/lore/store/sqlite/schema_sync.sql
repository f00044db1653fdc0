-- What an exchange of two stores needs so that nothing is lost: which history a store has, and what waits.

CREATE TABLE epoch (id TEXT NOT NULL) STRICT; -- one random id; a store that goes back or is filled anew gets another
INSERT INTO epoch (id) VALUES (lower(hex(randomblob(16))));

ALTER TABLE sync_mark ADD COLUMN epoch TEXT NOT NULL DEFAULT '';
ALTER TABLE sync_mark ADD COLUMN held TEXT NOT NULL DEFAULT '[]';
