-- What several users of one store need: who wrote a memory, who may call, and how far a copy has followed.

ALTER TABLE memory ADD COLUMN author TEXT NOT NULL DEFAULT '';

CREATE TABLE access_token (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    of_tenant TEXT NOT NULL,
    namespaces TEXT NOT NULL,
    rights TEXT NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL,
    last_used_at REAL,
    revoked_at REAL,
    PRIMARY KEY (tenant, namespace, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE sync_mark (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    remote TEXT NOT NULL,
    direction TEXT NOT NULL,
    cursor TEXT NOT NULL,
    moved_at REAL NOT NULL,
    PRIMARY KEY (tenant, namespace, remote, direction)
) STRICT, WITHOUT ROWID;

CREATE TABLE field_stamps (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    stamps TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tenant, namespace, id)
) STRICT, WITHOUT ROWID;
