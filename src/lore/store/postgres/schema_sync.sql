-- Which history a store has: one random id; a store that is filled anew gets another.

CREATE TABLE epoch (id text NOT NULL);
INSERT INTO epoch (id) VALUES (gen_random_uuid()::text);
