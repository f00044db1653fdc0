-- The first schema of an embedded store.
--
-- A tenant is a small integer (its name is in `tenant`); with a namespace it leads every key. The rows of
-- one memory in several tables share its alias, which is unique in the whole file.

CREATE TABLE tenant (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO tenant (number, name) VALUES (1, '');

CREATE TABLE memory (
    alias INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (number),
    namespace TEXT NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    project TEXT NOT NULL,
    depth INTEGER NOT NULL,
    status TEXT NOT NULL,
    importance REAL NOT NULL,
    score REAL NOT NULL,
    confidence REAL,
    confidence_count INTEGER NOT NULL,
    source TEXT NOT NULL,
    source_type TEXT NOT NULL,
    session TEXT NOT NULL,
    channel TEXT NOT NULL,
    trust REAL NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    superseded_by TEXT,
    superseded_at REAL,
    forgotten_at REAL,
    forgotten_reason TEXT NOT NULL,
    flags TEXT NOT NULL,
    metadata TEXT NOT NULL,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    context TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (tenant, id)
) STRICT; -- long texts last: a filter reads a row only up to the columns it needs
CREATE INDEX memory_current ON memory (tenant, namespace, created_at)
    WHERE forgotten_at IS NULL AND superseded_by IS NULL;
CREATE INDEX memory_kind ON memory (tenant, namespace, kind);
CREATE INDEX memory_session ON memory (tenant, session);
CREATE INDEX memory_title ON memory (tenant, namespace, title);
CREATE INDEX memory_project ON memory (tenant, namespace, project, kind, forgotten_at, superseded_by);
CREATE INDEX memory_id_tail ON memory (tenant, substr(id, -8));

CREATE TABLE usage (
    memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
    access_count INTEGER NOT NULL,
    access_days INTEGER NOT NULL,
    last_accessed_at REAL,
    last_reinforced_at REAL,
    activation REAL NOT NULL,
    activated_at REAL
) STRICT;

CREATE TABLE cooccurrence (
    one INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
    other INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    last_at REAL NOT NULL,
    PRIMARY KEY (one, other)
) STRICT, WITHOUT ROWID; -- one < other
CREATE INDEX cooccurrence_other ON cooccurrence (other);

CREATE TABLE link (
    alias INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (number),
    id TEXT NOT NULL,
    source INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    score REAL NOT NULL,
    confidence REAL,
    confidence_count INTEGER NOT NULL,
    reason TEXT NOT NULL,
    active INTEGER NOT NULL,
    ended_at REAL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    created_by TEXT NOT NULL,
    UNIQUE (tenant, id),
    UNIQUE (source, target, kind, type) -- an alias belongs to one tenant
) STRICT;
CREATE INDEX link_target ON link (target, kind);
CREATE UNIQUE INDEX link_one_parent ON link (target) WHERE kind = 'hierarchical' AND active = 1;

CREATE TABLE suggestion (
    tenant INTEGER NOT NULL REFERENCES tenant (number),
    id TEXT NOT NULL,
    source INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
    score REAL NOT NULL,
    signals TEXT NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (source, target)
) STRICT;
CREATE INDEX suggestion_target ON suggestion (target);
CREATE INDEX suggestion_status ON suggestion (tenant, status, score);

CREATE TABLE full_text (
    memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
    characters INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT; -- data: UTF-8, compressed by zstd

CREATE TABLE journal (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant INTEGER NOT NULL REFERENCES tenant (number),
    namespace TEXT NOT NULL,
    at REAL NOT NULL,
    batch TEXT NOT NULL,
    verb TEXT NOT NULL,
    surface TEXT NOT NULL,
    actor TEXT NOT NULL,
    reason TEXT NOT NULL,
    noun TEXT NOT NULL,
    id TEXT NOT NULL,
    before TEXT,
    after TEXT
) STRICT; -- namespace: of the memory, or of the more private end of the link
CREATE INDEX journal_id ON journal (tenant, id);
CREATE INDEX journal_namespace ON journal (tenant, namespace, seq);

-- Derived: the text indexes, names, and vectors. The writer keeps them in step with `memory`.

CREATE VIRTUAL TABLE words USING fts5 (
    title, summary, content, context,
    content = 'memory', content_rowid = 'alias',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE grams USING fts5 (
    title, summary, content, context,
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
); -- vowel signs (Mn, Mc) are parts of a gram

CREATE TABLE subject (
    tenant INTEGER NOT NULL,
    name TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
    PRIMARY KEY (tenant, name, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX subject_memory ON subject (memory);

CREATE TABLE embedding (
    memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    model TEXT NOT NULL,
    version INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    code BLOB
) STRICT; -- seq: the place in the tenant's feed of vectors; the index in memory reads on from there
CREATE INDEX embedding_model ON embedding (tenant, namespace, model);
CREATE INDEX embedding_feed ON embedding (tenant, seq);
CREATE TABLE vector (
    memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
    model TEXT NOT NULL,
    data BLOB NOT NULL
) STRICT;

-- Records of Lore's own work, one table for each kind.

CREATE TABLE bookmark (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    path TEXT NOT NULL,
    source TEXT NOT NULL,
    device TEXT NOT NULL,
    inode TEXT NOT NULL,
    offset INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    first TEXT NOT NULL,
    last TEXT NOT NULL,
    state TEXT NOT NULL,
    read_at REAL NOT NULL,
    PRIMARY KEY (tenant, namespace, path)
) STRICT, WITHOUT ROWID; -- device, inode: may be larger than SQLite's integers

CREATE TABLE job (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    due_at REAL NOT NULL,
    done_at REAL NOT NULL,
    claimed_until REAL NOT NULL,
    PRIMARY KEY (tenant, namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE digest_progress (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    session TEXT NOT NULL,
    turns INTEGER NOT NULL,
    until INTEGER NOT NULL,
    digested_at REAL NOT NULL,
    attempts INTEGER NOT NULL,
    retry_at REAL NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (tenant, namespace, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_answers (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    session TEXT NOT NULL,
    answers TEXT NOT NULL,
    PRIMARY KEY (tenant, namespace, session)
) STRICT;

CREATE TABLE phase_mark (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    phase TEXT NOT NULL,
    done_at REAL NOT NULL,
    settings TEXT NOT NULL,
    seen TEXT NOT NULL,
    PRIMARY KEY (tenant, namespace, phase)
) STRICT;

CREATE TABLE consolidation_run (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    began_at REAL NOT NULL,
    seconds REAL NOT NULL,
    phases TEXT NOT NULL,
    counts TEXT NOT NULL,
    remarks TEXT NOT NULL,
    fallback TEXT NOT NULL,
    PRIMARY KEY (tenant, namespace, began_at)
) STRICT;

CREATE TABLE spending (
    tenant INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    dollars REAL NOT NULL,
    unpriced INTEGER NOT NULL,
    PRIMARY KEY (tenant, namespace, day, model)
) STRICT, WITHOUT ROWID;

ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('memory', 'memory_current', '100000 100000 50000 1'),
    ('memory', 'memory_kind', '100000 100000 50000 10000'),
    ('memory', 'memory_session', '100000 100000 100'),
    ('memory', 'memory_title', '100000 100000 50000 2'),
    ('memory', 'memory_project', '100000 100000 50000 250 100 100 100 noskipscan'),
    ('memory', 'memory_id_tail', '100000 100000 1'),
    ('memory', 'sqlite_autoindex_memory_1', '100000 100000 1'),
    ('link', 'sqlite_autoindex_link_1', '100000 100000 1'),
    ('link', 'sqlite_autoindex_link_2', '100000 3 1 1 1'),
    ('link', 'link_target', '100000 3 2'),
    ('link', 'link_one_parent', '50000 1'),
    ('journal', 'journal_id', '100000 100000 2'),
    ('journal', 'journal_namespace', '100000 100000 50000 1'),
    ('embedding', 'embedding_model', '100000 100000 50000 50000'),
    ('embedding', 'embedding_feed', '100000 100000 1'); -- plans for a large store, whatever its size
