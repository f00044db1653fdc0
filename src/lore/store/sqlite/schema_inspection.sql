-- What looking back needs: the entries of one transaction, and judgements of what Lore did by itself.

CREATE INDEX journal_batch ON journal (tenant, batch);
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('journal', 'journal_batch', '100000 100000 3');

CREATE TABLE judgement (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    verdict TEXT NOT NULL,
    judged_at REAL NOT NULL,
    judged_by TEXT NOT NULL,
    PRIMARY KEY (tenant, namespace, key)
) STRICT, WITHOUT ROWID;
