"""Migrations: named steps, each applied once, in order. A step that was released never changes."""

MIGRATIONS: dict[str, str] = {
    "0001 memories, links, words, vectors, journal": """
        CREATE TABLE memory (
            alias INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            namespace TEXT NOT NULL,
            kind TEXT NOT NULL,
            type TEXT NOT NULL,
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
            content TEXT NOT NULL
        ) STRICT; -- long texts last: a filter reads a row only up to the columns it needs
        CREATE INDEX memory_current ON memory (namespace, created_at)
            WHERE forgotten_at IS NULL AND superseded_by IS NULL;
        CREATE INDEX memory_kind ON memory (kind, namespace);
        CREATE INDEX memory_session ON memory (session);
        CREATE INDEX memory_title ON memory (title, namespace);

        CREATE TABLE trace (
            memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
            access_count INTEGER NOT NULL,
            access_days INTEGER NOT NULL,
            last_accessed_at REAL,
            last_reinforced_at REAL,
            activation REAL NOT NULL,
            activated_at REAL
        ) STRICT;

        CREATE TABLE link (
            alias INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
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
            UNIQUE (source, target, kind, type)
        ) STRICT;
        CREATE INDEX link_target ON link (target, kind);
        CREATE UNIQUE INDEX link_one_parent ON link (target) WHERE kind = 'hierarchical' AND active = 1;

        CREATE VIRTUAL TABLE words USING fts5 (
            title, summary, content, context,
            content = 'memory', content_rowid = 'alias',
            tokenize = 'porter unicode61 remove_diacritics 2'
        );
        INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

        CREATE TABLE embedding (
            memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
            model TEXT NOT NULL,
            version INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            code BLOB
        ) STRICT;
        CREATE INDEX embedding_model ON embedding (model, seq);
        CREATE INDEX embedding_seq ON embedding (seq);
        CREATE TABLE vector (
            memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
            model TEXT NOT NULL,
            data BLOB NOT NULL
        ) STRICT;

        CREATE TABLE journal (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
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
        ) STRICT;
        CREATE INDEX journal_id ON journal (id);

        ANALYZE sqlite_schema;
        INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
            ('memory', 'memory_current', '100000 50000 1'),
            ('memory', 'memory_kind', '100000 20000 10000'),
            ('memory', 'memory_session', '100000 100'),
            ('memory', 'memory_title', '100000 2 1'),
            ('memory', 'sqlite_autoindex_memory_1', '100000 1'),
            ('link', 'sqlite_autoindex_link_1', '100000 1'),
            ('link', 'sqlite_autoindex_link_2', '100000 3 1 1 1'),
            ('link', 'link_target', '100000 3 2'),
            ('link', 'link_one_parent', '50000 1'),
            ('embedding', 'embedding_model', '100000 50000 1'),
            ('embedding', 'embedding_seq', '100000 1'); -- plans for a large store, whatever its size

        CREATE TRIGGER memory_inserted AFTER INSERT ON memory BEGIN
            INSERT INTO words (rowid, title, summary, content, context)
                VALUES (new.alias, new.title, new.summary, new.content, new.context);
            INSERT INTO embedding (memory, model, version, seq) VALUES (new.alias, '', 0, 0);
        END;
        CREATE TRIGGER memory_reworded AFTER UPDATE OF title, summary, content, context ON memory
            WHEN (old.title, old.summary, old.content, old.context)
                != (new.title, new.summary, new.content, new.context) BEGIN
            INSERT INTO words (words, rowid, title, summary, content, context)
                VALUES ('delete', old.alias, old.title, old.summary, old.content, old.context);
            INSERT INTO words (rowid, title, summary, content, context)
                VALUES (new.alias, new.title, new.summary, new.content, new.context);
            UPDATE embedding SET model = '', version = version + 1, code = NULL
                WHERE memory = new.alias;
            DELETE FROM vector WHERE memory = new.alias;
        END;
        CREATE TRIGGER memory_deleted AFTER DELETE ON memory BEGIN
            INSERT INTO words (words, rowid, title, summary, content, context)
                VALUES ('delete', old.alias, old.title, old.summary, old.content, old.context);
        END;
    """,
    "0002 suggestions, errands": """
        CREATE TABLE suggestion (
            id TEXT PRIMARY KEY,
            source INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            target INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            score REAL NOT NULL,
            signals TEXT NOT NULL,
            type TEXT NOT NULL,
            status TEXT NOT NULL,
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL,
            UNIQUE (source, target)
        ) STRICT;
        CREATE INDEX suggestion_target ON suggestion (target);
        CREATE INDEX suggestion_status ON suggestion (status, score);

        CREATE TABLE errand (
            name TEXT PRIMARY KEY,
            due_at REAL NOT NULL,
            done_at REAL NOT NULL
        ) STRICT;
    """,
    "0003 which memories are shown together": """
        CREATE TABLE meeting (
            one INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            other INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            count INTEGER NOT NULL,
            last_at REAL NOT NULL,
            PRIMARY KEY (one, other)
        ) STRICT, WITHOUT ROWID; -- one < other
        CREATE INDEX meeting_other ON meeting (other);
    """,
    "0004 changed words are marked, not dug out": """
        INSERT INTO words (words, rank) VALUES ('secure-delete', 0);
    """,  # to dig them out cost two thirds of every change, and the journal keeps the old text anyway
    "0005 bookmarks in transcripts": """
        CREATE TABLE bookmark (
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
            PRIMARY KEY (namespace, path)
        ) STRICT, WITHOUT ROWID;
    """,
    "0006 what belongs to a project": """
        ALTER TABLE memory ADD COLUMN project TEXT NOT NULL DEFAULT '';
        UPDATE memory SET project = channel, channel = '' WHERE source_type = 'transcript' AND channel != '';
        CREATE INDEX memory_project ON memory (project, namespace, kind, forgotten_at, superseded_by);
        INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
            ('memory', 'memory_project', '100000 500 250 100 100 100 noskipscan');
    """,  # the column stands behind the long texts, so the index holds all that tells who passes
    "0007 what consolidation notes": """
        CREATE TABLE noted (
            namespace TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (namespace, name)
        ) STRICT, WITHOUT ROWID;
    """,
    "0008 what memories are about": """
        CREATE TABLE subject (
            name TEXT NOT NULL,
            memory INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            PRIMARY KEY (name, memory)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX subject_memory ON subject (memory);
        INSERT INTO subject SELECT s.value, m.alias
            FROM memory m CROSS JOIN json_each(subjects_of(m.title, m.content)) s;
    """,
    "0009 memories by the end of their id": """
        CREATE INDEX memory_id_tail ON memory (substr(id, -8));
    """,  # the beginning of an id is its time, so only the end tells memories of one minute apart
    "0010 calls to Lore are not recalled": """
        UPDATE memory SET kind = 'lore-call' WHERE kind = 'turn' AND type = 'tool' AND (
            metadata ->> 'tool' GLOB 'mcp__*lore*__*' OR metadata ->> 'tool' GLOB 'mcp_lore_*'
            OR metadata ->> 'tool' GLOB 'lore_*' OR metadata ->> 'tool' GLOB 'mcp__memory__*');
        DELETE FROM vector WHERE memory IN (SELECT alias FROM memory WHERE kind = 'lore-call');
        DELETE FROM embedding WHERE memory IN (SELECT alias FROM memory WHERE kind = 'lore-call');
        DROP TRIGGER memory_inserted;
        CREATE TRIGGER memory_inserted AFTER INSERT ON memory BEGIN
            INSERT INTO words (rowid, title, summary, content, context)
                VALUES (new.alias, new.title, new.summary, new.content, new.context);
            INSERT INTO embedding (memory, model, version, seq)
                SELECT new.alias, '', 0, 0 WHERE new.kind != 'lore-call';
        END;
    """,  # they have no row in `embedding`: nothing waits to be embedded
    "0011 whole texts beside their excerpts": """
        CREATE TABLE full_text (
            memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
            characters INTEGER NOT NULL,
            data BLOB NOT NULL
        ) STRICT; -- data: UTF-8, compressed by zstd
    """,
    "0012 scripts without spaces": """
        CREATE VIRTUAL TABLE grams USING fts5 (
            title, summary, content, context,
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
        );
        WITH made AS MATERIALIZED (
            SELECT alias, grams_of(title) AS title, grams_of(summary) AS summary,
                grams_of(content) AS content, grams_of(context) AS context FROM memory
        )
        INSERT INTO grams (rowid, title, summary, content, context) SELECT * FROM made
            WHERE (title, summary, content, context) != ('', '', '', '');
        DROP TRIGGER memory_deleted;
        CREATE TRIGGER memory_deleted AFTER DELETE ON memory BEGIN
            INSERT INTO words (words, rowid, title, summary, content, context)
                VALUES ('delete', old.alias, old.title, old.summary, old.content, old.context);
            DELETE FROM grams WHERE rowid = old.alias;
        END;
    """,  # vowel signs (Mn, Mc) are parts of a gram
}
"""Expand first, contract in a later release: an older Lore may still have the file open."""
