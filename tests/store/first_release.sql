-- A store of the first 0.1.0, as it wrote it: its schema and its rows, without what it derives.
CREATE TABLE migration (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT;
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
        , project TEXT NOT NULL DEFAULT '') STRICT;
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
CREATE VIRTUAL TABLE words USING fts5 (
            title, summary, content, context,
            content = 'memory', content_rowid = 'alias',
            tokenize = 'porter unicode61 remove_diacritics 2'
        );
CREATE TABLE embedding (
            memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
            model TEXT NOT NULL,
            version INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            code BLOB
        ) STRICT;
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
CREATE TABLE errand (
            name TEXT PRIMARY KEY,
            due_at REAL NOT NULL,
            done_at REAL NOT NULL
        ) STRICT;
CREATE TABLE meeting (
            one INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            other INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            count INTEGER NOT NULL,
            last_at REAL NOT NULL,
            PRIMARY KEY (one, other)
        ) STRICT, WITHOUT ROWID;
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
CREATE TABLE noted (
            namespace TEXT NOT NULL,
            name TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (namespace, name)
        ) STRICT, WITHOUT ROWID;
CREATE TABLE subject (
            name TEXT NOT NULL,
            memory INTEGER NOT NULL REFERENCES memory (alias) ON DELETE CASCADE,
            PRIMARY KEY (name, memory)
        ) STRICT, WITHOUT ROWID;
CREATE TABLE full_text (
            memory INTEGER PRIMARY KEY REFERENCES memory (alias) ON DELETE CASCADE,
            characters INTEGER NOT NULL,
            data BLOB NOT NULL
        ) STRICT;
CREATE VIRTUAL TABLE grams USING fts5 (
            title, summary, content, context,
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
        );
CREATE INDEX memory_current ON memory (namespace, created_at)
            WHERE forgotten_at IS NULL AND superseded_by IS NULL;
CREATE INDEX memory_kind ON memory (kind, namespace);
CREATE INDEX memory_session ON memory (session);
CREATE INDEX memory_title ON memory (title, namespace);
CREATE INDEX link_target ON link (target, kind);
CREATE UNIQUE INDEX link_one_parent ON link (target) WHERE kind = 'hierarchical' AND active = 1;
CREATE INDEX embedding_model ON embedding (model, seq);
CREATE INDEX embedding_seq ON embedding (seq);
CREATE INDEX journal_id ON journal (id);
CREATE INDEX suggestion_target ON suggestion (target);
CREATE INDEX suggestion_status ON suggestion (status, score);
CREATE INDEX meeting_other ON meeting (other);
CREATE INDEX memory_project ON memory (project, namespace, kind, forgotten_at, superseded_by);
CREATE INDEX subject_memory ON subject (memory);
CREATE INDEX memory_id_tail ON memory (substr(id, -8));
INSERT INTO migration VALUES ('0001 memories, links, words, vectors, journal', 1795034380.4253216);
INSERT INTO migration VALUES ('0002 suggestions, errands', 1795034380.4255784);
INSERT INTO migration VALUES ('0003 which memories are shown together', 1795034380.4256923);
INSERT INTO migration VALUES ('0004 changed words are marked, not dug out', 1795034380.425748);
INSERT INTO migration VALUES ('0005 bookmarks in transcripts', 1795034380.4258296);
INSERT INTO migration VALUES ('0006 what belongs to a project', 1795034380.4265738);
INSERT INTO migration VALUES ('0007 what consolidation notes', 1795034380.426688);
INSERT INTO migration VALUES ('0008 what memories are about', 1795034380.4268851);
INSERT INTO migration VALUES ('0009 memories by the end of their id', 1795034380.4269915);
INSERT INTO migration VALUES ('0010 calls to Lore are not recalled', 1795034380.4272757);
INSERT INTO migration VALUES ('0011 whole texts beside their excerpts', 1795034380.4273586);
INSERT INTO migration VALUES ('0012 scripts without spaces', 1795034380.4277925);
INSERT INTO memory VALUES (1, '01a1f062-f890-7be0-98ff-140b321292bd', 'anna', 'note', '', 0, '', 0.5, 5.0, NULL, 0, '', 'observed', '', '', 0.5, 1795034380.432845, 1795034380.460098, NULL, NULL, NULL, '', '[]', '{}', 'Deploy key', '', '', 'The deploy key lives in the vault of the ops team.', '');
INSERT INTO memory VALUES (2, '01a1f062-f893-77d5-b626-9bd03b2727eb', 'anna', 'note', '', 0, '', 0.5, 5.0, NULL, 0, '', 'observed', '', '', 0.5, 1795034380.435826, 1795034380.4556015, '01a1f062-f899-7ba5-91e5-69b32a5977ec', 1795034380.4556015, NULL, '', '[]', '{"area": "ops"}', 'Release day', '', '', 'Releases are made on Tuesdays.', '');
INSERT INTO memory VALUES (3, '01a1f062-f897-7ca9-b746-a6e331d1aa96', 'anna', 'note', '', 0, '', 0.5, 5.0, NULL, 0, '', 'observed', '', '', 0.5, 1795034380.4391031, 1795034380.4391031, NULL, NULL, NULL, '', '[]', '{}', '', '', '', '数据库备份每天运行。', '');
INSERT INTO memory VALUES (4, '01a1f062-f899-7ba5-91e5-69b32a5977ec', 'anna', 'note', '', 0, '', 0.5, 5.0, NULL, 0, '', 'observed', '', '', 0.5, 1795034380.4413118, 1795034380.4413118, NULL, NULL, NULL, '', '[]', '{}', 'Release day now', '', '', 'Releases are made on Thursdays.', '');
INSERT INTO memory VALUES (5, '01a1f062-f89a-783e-8f07-e0fadb096e7b', 'anna', 'note', '', 0, '', 0.5, 5.0, NULL, 0, '', 'observed', '', '', 0.5, 1795034380.442716, 1795034380.4588315, NULL, NULL, 1795034380.4588315, 'wrong', '[]', '{}', '', '', '', 'This was a mistake.', '');
INSERT INTO memory VALUES (6, '01a1f062-f89f-740a-b85a-eed457afb8d0', 'shared', 'note', '', 0, '', 0.5, 5.0, NULL, 0, '', 'observed', '', '', 0.5, 1795034380.447894, 1795034380.447894, NULL, NULL, NULL, '', '[]', '{}', '', '', '', 'The office is in Basel.', '');
INSERT INTO memory VALUES (7, '7451ba49-3509-5a0d-a270-4ac070f7eb84', 'anna', 'session', '', 0, '', 0.1, 5.0, NULL, 0, 'claude-code', 'transcript', '5e55-10a', '', 0.5, 1794736800.0, 1794736800.0, NULL, NULL, NULL, '', '[]', '{"folder": "/srv/orders"}', 'Always run the tests with make check before a commit. How do we deploy the orde…', '', '', 'Always run the tests with make check before a commit. How do we deploy the orde…', '/srv/orders');
INSERT INTO memory VALUES (8, 'ee74f54c-75be-5779-a5f0-3a3b0263992d', 'anna', 'turn', 'user', 1, '', 0.3, 5.0, NULL, 0, 'claude-code', 'transcript', '5e55-10a', '', 0.5, 1794736800.0, 1794736800.0, NULL, NULL, NULL, '', '[]', '{"folder": "/srv/orders", "line": 1, "uuid": "00000000-0000-4000-8000-000000000000"}', '', '', 'the user, Sunday 15 November 2026, orders', 'Always run the tests with make check before a commit. How do we deploy the orders service?', '/srv/orders');
INSERT INTO memory VALUES (9, '5e182cb2-3f6b-5d88-9134-45e36b8e9f09', 'anna', 'turn', 'assistant', 1, '', 0.2, 5.0, NULL, 0, 'claude-code', 'transcript', '5e55-10a', '', 0.5, 1794736860.0, 1794736860.0, NULL, NULL, NULL, '', '[]', '{"folder": "/srv/orders", "line": 2, "uuid": "00000001-0000-4000-8000-000000000000"}', '', '', 'the assistant, Sunday 15 November 2026, orders
Always run the tests with make check before a commit. How do we deploy the orders service?', 'The orders service is deployed with blue-green releases; the switch takes 40 seconds.', '/srv/orders');
INSERT INTO memory VALUES (10, 'c5dcec3d-f5d1-5e33-a953-5786905a15dc', 'anna', 'turn', 'user', 1, '', 0.3, 5.0, NULL, 0, 'claude-code', 'transcript', '5e55-10a', '', 0.5, 1794736920.0, 1794736920.0, NULL, NULL, NULL, '', '[]', '{"folder": "/srv/orders", "line": 3, "uuid": "00000002-0000-4000-8000-000000000000"}', '', '', 'the user, Sunday 15 November 2026, orders
The orders service is deployed with blue-green releases; the switch takes 40 seconds.', 'We decided to use PostgreSQL 16 for the orders service because of logical replication.', '/srv/orders');
INSERT INTO memory VALUES (11, '30b112dc-6d0a-5cac-bbfe-6f2c7a067cb6', 'anna', 'turn', 'assistant', 1, '', 0.2, 5.0, NULL, 0, 'claude-code', 'transcript', '5e55-10a', '', 0.5, 1794736980.0, 1794736980.0, NULL, NULL, NULL, '', '[]', '{"folder": "/srv/orders", "line": 4, "uuid": "00000003-0000-4000-8000-000000000000"}', '', '', 'the assistant, Sunday 15 November 2026, orders
We decided to use PostgreSQL 16 for the orders service because of logical replication.', 'Noted. The migration of the orders table has these steps. Th', '/srv/orders');
INSERT INTO memory VALUES (12, '01a1f063-0228-7397-8cae-4c6bfb973b7e', 'anna', 'fragment', '', 0, '', 1.0, 5.0, NULL, 0, 'claude-code', 'distilled', '5e55-10a', '', 0.5, 1794736980.0, 1795034382.888202, NULL, NULL, NULL, '', '[]', '{"overview_of": "44abddaf01af5f04"}', 'PostgreSQL', '', '', 'We decided to use PostgreSQL 16 for the orders service because of logical replication. Always run the tests with make check before a commit.', '/srv/orders');
INSERT INTO memory VALUES (13, '01a1f063-0228-7755-8153-b50e7325dbca', 'anna', 'fragment', 'preference', 1, '', 1.0, 5.0, NULL, 0, 'claude-code', 'distilled', '5e55-10a', '', 0.5, 1794736800.0, 1795034382.888202, NULL, NULL, NULL, '', '[]', '{}', '', '', '', 'Always run the tests with make check before a commit.', '/srv/orders');
INSERT INTO memory VALUES (14, '01a1f063-0228-78fc-9a91-7f2334a642be', 'anna', 'fragment', 'decision', 1, '', 1.0, 5.0, NULL, 0, 'claude-code', 'distilled', '5e55-10a', '', 0.5, 1794736920.0, 1795034382.888202, NULL, NULL, NULL, '', '[]', '{}', '', '', '', 'We decided to use PostgreSQL 16 for the orders service because of logical replication.', '/srv/orders');
INSERT INTO trace VALUES (1, 1, 1, 1795034380.4620216, 1795034380.4620216, 0.0, NULL);
INSERT INTO trace VALUES (2, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (3, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (4, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (5, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (6, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (7, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (8, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (9, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (10, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (11, 0, 0, NULL, NULL, 0.0, NULL);
INSERT INTO trace VALUES (12, 0, 0, NULL, 1795034382.888202, 0.0, NULL);
INSERT INTO trace VALUES (13, 0, 0, NULL, 1795034382.888202, 0.0, NULL);
INSERT INTO trace VALUES (14, 0, 0, NULL, 1795034382.888202, 0.0, NULL);
INSERT INTO link VALUES (1, '01a1f062-f8a4-7226-8bc1-133f336b5cb4', 1, 2, 'associative', 'near', 0.5, 1.0, NULL, 0, '', 1, NULL, 1795034380.4520562, 1795034380.4520562, 'link');
INSERT INTO link VALUES (2, '01a1f062-f8a7-769c-8a22-c5af2567c4ec', 4, 2, 'supersedes', '', 1.0, 1.0, NULL, 0, 'moved', 1, NULL, 1795034380.4556015, 1795034380.4556015, 'supersede');
INSERT INTO link VALUES (3, '01a1f062-fe51-73e0-9b01-5d3cc5f68551', 7, 8, 'hierarchical', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034381.905683, 1795034381.905683, 'ingest');
INSERT INTO link VALUES (4, '01a1f062-fe51-74a2-90d1-d7fdfb9acd56', 7, 9, 'hierarchical', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034381.905683, 1795034381.905683, 'ingest');
INSERT INTO link VALUES (5, '01a1f062-fe51-72c2-bad8-c9b5086eae3c', 8, 9, 'temporal', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034381.905683, 1795034381.905683, 'ingest');
INSERT INTO link VALUES (6, '01a1f062-fe51-7071-bc69-5a999f18f31c', 7, 10, 'hierarchical', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034381.905683, 1795034381.905683, 'ingest');
INSERT INTO link VALUES (7, '01a1f062-fe51-7cd9-82c5-574cf2122d37', 9, 10, 'temporal', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034381.905683, 1795034381.905683, 'ingest');
INSERT INTO link VALUES (8, '01a1f062-fe51-79d2-aefe-4093d3bec9a3', 7, 11, 'hierarchical', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034381.905683, 1795034381.905683, 'ingest');
INSERT INTO link VALUES (9, '01a1f062-fe51-7486-bb6f-4774e973e597', 10, 11, 'temporal', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034381.905683, 1795034381.905683, 'ingest');
INSERT INTO link VALUES (10, '01a1f063-0228-7500-9f58-c556e9ed3fcc', 12, 13, 'hierarchical', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034382.888202, 1795034382.888202, 'consolidate');
INSERT INTO link VALUES (11, '01a1f063-0228-7434-b696-273ba94bd9e5', 13, 8, 'relation', 'derived_from', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034382.888202, 1795034382.888202, 'consolidate');
INSERT INTO link VALUES (12, '01a1f063-0228-7698-8f69-5e3a2127457c', 13, 14, 'temporal', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034382.888202, 1795034382.888202, 'consolidate');
INSERT INTO link VALUES (13, '01a1f063-0228-7196-8f6a-9d63df52aa68', 12, 14, 'hierarchical', '', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034382.888202, 1795034382.888202, 'consolidate');
INSERT INTO link VALUES (14, '01a1f063-0228-73b2-8edc-ca283a90e2d8', 14, 10, 'relation', 'derived_from', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034382.888202, 1795034382.888202, 'consolidate');
INSERT INTO link VALUES (15, '01a1f063-0228-72cb-a6e9-497106c3397c', 12, 8, 'relation', 'derived_from', 1.0, 1.0, NULL, 0, '', 1, NULL, 1795034382.888202, 1795034382.888202, 'consolidate');
INSERT INTO embedding VALUES (1, '', 1, 0, NULL);
INSERT INTO embedding VALUES (2, '', 0, 0, NULL);
INSERT INTO embedding VALUES (3, '', 0, 0, NULL);
INSERT INTO embedding VALUES (4, '', 0, 0, NULL);
INSERT INTO embedding VALUES (5, '', 0, 0, NULL);
INSERT INTO embedding VALUES (6, '', 0, 0, NULL);
INSERT INTO embedding VALUES (7, '', 0, 0, NULL);
INSERT INTO embedding VALUES (8, '', 0, 0, NULL);
INSERT INTO embedding VALUES (9, '', 0, 0, NULL);
INSERT INTO embedding VALUES (10, '', 0, 0, NULL);
INSERT INTO embedding VALUES (11, '', 0, 0, NULL);
INSERT INTO embedding VALUES (12, '', 0, 0, NULL);
INSERT INTO embedding VALUES (13, '', 0, 0, NULL);
INSERT INTO embedding VALUES (14, '', 0, 0, NULL);
INSERT INTO full_text VALUES (11, 25, X'28b52ffd2019c900005468652077686f6c65206f662061206c6f6e67207475726e2e');
INSERT INTO vector VALUES (1, 'exact/test/4', X'0000803F000000000000000000000000');
UPDATE embedding SET model = 'exact/test/4', seq = 1 WHERE memory = 1;
INSERT INTO journal VALUES (1, 1795034380.432845, '01a1f062-f890-791b-9994-9a5c94798df3', 'remember', '', '', '', 'memory', '01a1f062-f890-7be0-98ff-140b321292bd', NULL, '{}');
INSERT INTO journal VALUES (2, 1795034380.435826, '01a1f062-f893-7bad-b49a-278ee2749641', 'remember', '', '', '', 'memory', '01a1f062-f893-77d5-b626-9bd03b2727eb', NULL, '{}');
INSERT INTO journal VALUES (3, 1795034380.4391031, '01a1f062-f897-7d13-ba44-046552314214', 'remember', '', '', '', 'memory', '01a1f062-f897-7ca9-b746-a6e331d1aa96', NULL, '{}');
INSERT INTO journal VALUES (4, 1795034380.4413118, '01a1f062-f899-7522-8981-3862be1fc4f0', 'remember', '', '', '', 'memory', '01a1f062-f899-7ba5-91e5-69b32a5977ec', NULL, '{}');
INSERT INTO journal VALUES (5, 1795034380.442716, '01a1f062-f89a-7939-a772-da1458f29e4b', 'remember', '', '', '', 'memory', '01a1f062-f89a-783e-8f07-e0fadb096e7b', NULL, '{}');
INSERT INTO journal VALUES (6, 1795034380.447894, '01a1f062-f89f-7d7d-b625-09716c8f48c9', 'remember', '', '', '', 'memory', '01a1f062-f89f-740a-b85a-eed457afb8d0', NULL, '{}');
INSERT INTO journal VALUES (7, 1795034380.4520562, '01a1f062-f8a4-7acf-a491-8d28debecc50', 'link', '', '', '', 'link', '01a1f062-f8a4-7226-8bc1-133f336b5cb4', NULL, '{}');
INSERT INTO journal VALUES (8, 1795034380.4556015, '01a1f062-f8a7-72d8-98e3-5e52c544f658', 'supersede', '', '', 'moved', 'link', '01a1f062-f8a7-769c-8a22-c5af2567c4ec', NULL, '{}');
INSERT INTO journal VALUES (9, 1795034380.4556015, '01a1f062-f8a7-72d8-98e3-5e52c544f658', 'supersede', '', '', 'moved', 'memory', '01a1f062-f893-77d5-b626-9bd03b2727eb', '{"updated_at": 1795034380.435826, "superseded_by": null, "superseded_at": null}', '{"updated_at": 1795034380.4556015, "superseded_by": "01a1f062-f899-7ba5-91e5-69b32a5977ec", "superseded_at": 1795034380.4556015}');
INSERT INTO journal VALUES (10, 1795034380.4588315, '01a1f062-f8aa-7ad7-94d4-ab5b872ef3cd', 'forget', '', '', 'wrong', 'memory', '01a1f062-f89a-783e-8f07-e0fadb096e7b', '{"updated_at": 1795034380.442716, "forgotten_at": null, "forgotten_reason": ""}', '{"updated_at": 1795034380.4588315, "forgotten_at": 1795034380.4588315, "forgotten_reason": "wrong"}');
INSERT INTO journal VALUES (11, 1795034380.460098, '01a1f062-f8ac-7b57-a760-9732036c5a5d', 'revise', '', '', '', 'memory', '01a1f062-f890-7be0-98ff-140b321292bd', '{"content": "The deploy key lives in the vault.", "updated_at": 1795034380.432845}', '{"content": "The deploy key lives in the vault of the ops team.", "updated_at": 1795034380.460098}');
INSERT INTO journal VALUES (12, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'memory', '7451ba49-3509-5a0d-a270-4ac070f7eb84', NULL, '{}');
INSERT INTO journal VALUES (13, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'memory', 'ee74f54c-75be-5779-a5f0-3a3b0263992d', NULL, '{}');
INSERT INTO journal VALUES (14, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'memory', '5e182cb2-3f6b-5d88-9134-45e36b8e9f09', NULL, '{}');
INSERT INTO journal VALUES (15, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'memory', 'c5dcec3d-f5d1-5e33-a953-5786905a15dc', NULL, '{}');
INSERT INTO journal VALUES (16, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'memory', '30b112dc-6d0a-5cac-bbfe-6f2c7a067cb6', NULL, '{}');
INSERT INTO journal VALUES (17, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'link', '01a1f062-fe51-73e0-9b01-5d3cc5f68551', NULL, '{}');
INSERT INTO journal VALUES (18, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'link', '01a1f062-fe51-74a2-90d1-d7fdfb9acd56', NULL, '{}');
INSERT INTO journal VALUES (19, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'link', '01a1f062-fe51-72c2-bad8-c9b5086eae3c', NULL, '{}');
INSERT INTO journal VALUES (20, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'link', '01a1f062-fe51-7071-bc69-5a999f18f31c', NULL, '{}');
INSERT INTO journal VALUES (21, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'link', '01a1f062-fe51-7cd9-82c5-574cf2122d37', NULL, '{}');
INSERT INTO journal VALUES (22, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'link', '01a1f062-fe51-79d2-aefe-4093d3bec9a3', NULL, '{}');
INSERT INTO journal VALUES (23, 1795034381.905683, '01a1f062-fe51-7381-b018-082bd8bc0d78', 'ingest', 'cli', '', '', 'link', '01a1f062-fe51-7486-bb6f-4774e973e597', NULL, '{}');
INSERT INTO journal VALUES (24, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'memory', '01a1f063-0228-7397-8cae-4c6bfb973b7e', NULL, '{}');
INSERT INTO journal VALUES (25, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'memory', '01a1f063-0228-7755-8153-b50e7325dbca', NULL, '{}');
INSERT INTO journal VALUES (26, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'memory', '01a1f063-0228-78fc-9a91-7f2334a642be', NULL, '{}');
INSERT INTO journal VALUES (27, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'link', '01a1f063-0228-7500-9f58-c556e9ed3fcc', NULL, '{}');
INSERT INTO journal VALUES (28, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'link', '01a1f063-0228-7434-b696-273ba94bd9e5', NULL, '{}');
INSERT INTO journal VALUES (29, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'link', '01a1f063-0228-7698-8f69-5e3a2127457c', NULL, '{}');
INSERT INTO journal VALUES (30, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'link', '01a1f063-0228-7196-8f6a-9d63df52aa68', NULL, '{}');
INSERT INTO journal VALUES (31, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'link', '01a1f063-0228-73b2-8edc-ca283a90e2d8', NULL, '{}');
INSERT INTO journal VALUES (32, 1795034382.888202, '01a1f063-0228-7709-9a28-a0c208df9e4a', 'consolidate', 'cli', '', 'digest', 'link', '01a1f063-0228-72cb-a6e9-497106c3397c', NULL, '{}');
INSERT INTO errand VALUES ('sweep anna', 1795077580.433383, 1795034380.433383);
INSERT INTO errand VALUES ('consolidating anna', 1795034382.9995558, 1795034382.8827085);
INSERT INTO errand VALUES ('consolidate anna', 1795041582.9996388, 1795034382.8827064);
INSERT INTO bookmark VALUES ('anna', '/home/anna/.claude/projects/-srv-orders/5e55-10a.jsonl', 'claude-code', '65024', '2163786', 21714, 4, 'ee8fcb055ed567e70699a0a9', 'cd43937d759d818ce839f34a', '{}', 1795034381.905683);
INSERT INTO noted VALUES ('anna', 'digest/7451ba49-3509-5a0d-a270-4ac070f7eb84', '{"at": 1795034382.888202, "turns": 4, "until": 11}');
INSERT INTO noted VALUES ('anna', 'phase/contradict', '{"at": 1795034382.888202, "with": "hash/words/384 model=False"}');
INSERT INTO noted VALUES ('anna', 'phase/link', '{"at": 1795034382.888202, "with": "hash/words/384 least=0.8"}');
INSERT INTO noted VALUES ('anna', 'phase/merge', '{"at": 1795034382.888202, "with": "hash/words/384 least=0.85"}');
INSERT INTO noted VALUES ('anna', 'phase/resummarize', '{"at": 1795034382.888202, "with": "hash/words/384"}');
INSERT INTO noted VALUES ('anna', 'run/0001795034382.888', '{"began_at": 1795034382.888202, "counts": {"fragments_extracted": 3, "relevance_updated": 6, "sessions_digested": 1}, "fallback": "", "phases": ["digest", "relevance", "merge", "link", "resummarize", "reflect", "contradict", "decay", "prune"], "remarks": [], "seconds": 0.113}');
INSERT INTO subject VALUES ('deploy key', 1);
INSERT INTO subject VALUES ('release day', 2);
INSERT INTO subject VALUES ('releases', 2);
INSERT INTO subject VALUES ('releases', 4);
INSERT INTO subject VALUES ('office', 6);
INSERT INTO subject VALUES ('orders service', 9);
INSERT INTO subject VALUES ('postgresql', 12);
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
CREATE TRIGGER memory_inserted AFTER INSERT ON memory BEGIN
            INSERT INTO words (rowid, title, summary, content, context)
                VALUES (new.alias, new.title, new.summary, new.content, new.context);
            INSERT INTO embedding (memory, model, version, seq)
                SELECT new.alias, '', 0, 0 WHERE new.kind != 'lore-call';
        END;
CREATE TRIGGER memory_deleted AFTER DELETE ON memory BEGIN
            INSERT INTO words (words, rowid, title, summary, content, context)
                VALUES ('delete', old.alias, old.title, old.summary, old.content, old.context);
            DELETE FROM grams WHERE rowid = old.alias;
        END;
ANALYZE sqlite_schema;
