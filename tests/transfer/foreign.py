"""Files and databases as other systems write them, small and made by hand from their published schemas."""

import json
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

LOREKEEPER_SCHEMA = """
    CREATE TABLE memories (
        id TEXT PRIMARY KEY, title TEXT, description TEXT, content TEXT, created_at TEXT, updated_at TEXT,
        usage_count INTEGER DEFAULT 0, score REAL DEFAULT 1.0, soft_deleted INTEGER DEFAULT 0,
        confidence REAL, confidence_count INTEGER DEFAULT 0, last_used TEXT, namespace TEXT DEFAULT 'shared',
        source_type TEXT
    );
    CREATE TABLE memory_links (
        id TEXT PRIMARY KEY, source_memory_id TEXT, target_memory_id TEXT, relation_type TEXT, reason TEXT,
        score REAL DEFAULT 1.0, created_at TEXT, updated_at TEXT, usage_count INTEGER, confidence REAL,
        confidence_count INTEGER
    );
    CREATE TABLE reflections (
        id TEXT PRIMARY KEY, created_at TEXT, session_count INTEGER, lessons_learnt TEXT, good_patterns TEXT,
        user_profile_updates TEXT, factual_discoveries TEXT, summary TEXT, memory_ids TEXT
    );
    CREATE TABLE sessions (
        session_id TEXT PRIMARY KEY, session_date TEXT, topic TEXT, task_type TEXT, reviewed_at TEXT,
        reflection_id TEXT, transcript TEXT, what_was_done TEXT, decisions TEXT, lessons_learnt TEXT,
        good_patterns TEXT, user_profile TEXT, discoveries TEXT
    );
    CREATE TABLE link_suggestions (
        id TEXT PRIMARY KEY, source_memory_id TEXT, target_memory_id TEXT, weighted_score REAL,
        cosine_score REAL, bm25_score REAL, entity_score REAL, temporal_score REAL, suggested_type TEXT,
        confidence TEXT, status TEXT, created_at TEXT, updated_at TEXT
    );
"""
NOTES: list[dict[str, Any]] = [
    {
        "id": "lk-1",
        "title": "Deploys",
        "description": "How we ship",
        "content": "Deploys go out on Tuesdays.",
        "created_at": "2026-01-02T03:04:05+00:00",
        "updated_at": "2026-02-02T03:04:05+00:00",
        "usage_count": 7,
        "score": 8.5,
        "soft_deleted": 0,
        "confidence": 9.0,
        "confidence_count": 2,
        "last_used": "2026-03-01T00:00:00+00:00",
        "namespace": "shared",
        "source_type": "user_stated",
    },
    {
        "id": "lk-2",
        "title": "Old port",
        "description": "Old port",
        "content": "The service listens on 8080.",
        "created_at": "2026-01-03T00:00:00+00:00",
        "updated_at": "2026-01-04T00:00:00+00:00",
        "usage_count": 0,
        "score": 1.0,
        "soft_deleted": 1,
        "confidence": None,
        "confidence_count": 0,
        "last_used": None,
        "namespace": "ops",
        "source_type": "observed",
    },
    {
        "id": "lk-3",
        "title": "Runbook",
        "description": "",
        "content": "The runbook is in the wiki.",
        "created_at": "2026-01-05T00:00:00+00:00",
        "updated_at": "2026-01-05T00:00:00+00:00",
        "usage_count": 1,
        "score": 5.0,
        "soft_deleted": 0,
        "confidence": None,
        "confidence_count": 0,
        "last_used": None,
        "namespace": "shared",
        "source_type": "observed",
    },
]
LINK: dict[str, Any] = {
    "id": "ll-1",
    "source_memory_id": "lk-1",
    "target_memory_id": "lk-3",
    "relation_type": "related_to",
    "reason": "both about shipping",
    "score": 1.5,
    "created_at": "2026-01-06T00:00:00+00:00",
    "updated_at": "2026-01-06T00:00:00+00:00",
    "usage_count": 0,
    "confidence": None,
    "confidence_count": 0,
}


def insert(path: Path, schema: str, rows: dict[str, Sequence[dict[str, Any]]]) -> Path:
    """A database with this schema and these rows by table."""
    with closing(apsw.Connection(str(path))) as db:
        db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute(schema)
        for table, several in rows.items():
            for row in several:
                names = ", ".join(f'"{name}"' for name in row)
                db.execute(
                    f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
                )
    return path


def lorekeeper_json(path: Path) -> Path:
    document = {"version": "2", "exported_at": "2026-05-01T00:00:00Z", "memories": NOTES, "links": [LINK]}
    path.write_text(json.dumps(document, indent=1))
    return path


def lorekeeper_database(path: Path) -> Path:
    reflection = {
        "id": "r-1",
        "created_at": "2026-01-07T00:00:00+00:00",
        "session_count": 1,
        "summary": "Fixed the deploy.",
        "lessons_learnt": "- check the clock",
        "memory_ids": '["lk-1"]',
    }
    session = {
        "session_id": "s-1",
        "session_date": "2026-01-07",
        "topic": "Deploy trouble",
        "task_type": "debug",
        "reviewed_at": "2026-01-07T10:00:00+00:00",
        "reflection_id": "r-1",
        "decisions": "Ship on Tuesdays.",
    }
    judged = {
        "id": "g-1",
        "source_memory_id": "lk-1",
        "target_memory_id": "lk-3",
        "weighted_score": 0.6,
        "cosine_score": 0.7,
        "status": "rejected",
        "created_at": "2026-01-08T00:00:00+00:00",
        "updated_at": "2026-01-08T00:00:00+00:00",
    }
    rows: dict[str, Sequence[dict[str, Any]]] = {
        "memories": NOTES,
        "memory_links": [LINK],
        "reflections": [reflection],
        "sessions": [session],
        "link_suggestions": [judged],
    }
    return insert(path, LOREKEEPER_SCHEMA, rows)


REFERENCE_SCHEMA = """
    CREATE TABLE fragments (
        id TEXT PRIMARY KEY, content TEXT, depth INTEGER, embedding BLOB, created_at INTEGER,
        last_accessed INTEGER, access_count INTEGER DEFAULT 0, source_session TEXT,
        superseded_by TEXT REFERENCES fragments(id), metadata TEXT, importance REAL DEFAULT 0.5,
        relevance_score REAL DEFAULT 1.0, decay_rate REAL DEFAULT 0.035, last_reinforced INTEGER
    );
    CREATE TABLE edges (
        id TEXT PRIMARY KEY, source TEXT, target TEXT, kind TEXT, weight REAL DEFAULT 1.0, content TEXT,
        created_at INTEGER
    );
    CREATE TABLE watermarks (file_path TEXT PRIMARY KEY, byte_offset INTEGER, last_processed INTEGER);
    CREATE TABLE staged_turns (
        id INTEGER PRIMARY KEY AUTOINCREMENT, file_path TEXT, role TEXT, text TEXT, staged_at INTEGER
    );
"""


def reference_lore(path: Path) -> Path:
    def fragment(id: str, content: str, **more: Any) -> dict[str, Any]:
        return {
            "id": id,
            "content": content,
            "created_at": 1_770_000_000,
            "last_accessed": 1_770_000_000,
            **more,
        }

    fragments = [
        fragment("f-root", "Harbour project", depth=0, importance=0.9, relevance_score=0.8),
        fragment(
            "f-leaf",
            "The ferry runs in summer only.",
            depth=1,
            access_count=3,
            source_session="c-1",
            metadata='{"topic": "ferry"}',
            last_reinforced=1_771_000_000,
        ),
        fragment("f-old", "The ferry runs all year.", depth=1, superseded_by="f-leaf"),
    ]
    edges = [
        {
            "id": "e-1",
            "source": "f-root",
            "target": "f-leaf",
            "kind": "hierarchical",
            "created_at": 1_770_000_001,
        },
        {
            "id": "e-2",
            "source": "f-root",
            "target": "f-old",
            "kind": "hierarchical",
            "created_at": 1_770_000_001,
        },
        {
            "id": "e-3",
            "source": "f-leaf",
            "target": "f-old",
            "kind": "supersedes",
            "created_at": 1_770_000_002,
        },
        {
            "id": "e-4",
            "source": "f-old",
            "target": "f-leaf",
            "kind": "hierarchical",
            "created_at": 1_770_000_003,
        },
    ]
    turns = [
        {"file_path": "/home/u/c-2.jsonl", "role": role, "text": said, "staged_at": 1_770_000_010}
        for role, said in (("user", "When does the ferry run?"), ("assistant", "In summer."))
    ]
    return insert(path, REFERENCE_SCHEMA, {"fragments": fragments, "edges": edges, "staged_turns": turns})


CLAUDE_MEM_SCHEMA = """
    CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT UNIQUE NOT NULL,
        memory_session_id TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER, status TEXT
    );
    CREATE TABLE observations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
        text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,
        files_read TEXT, files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL
    );
    CREATE TABLE session_summaries (
        id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
        request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT,
        files_edited TEXT, notes TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL
    );
    CREATE TABLE user_prompts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL
    );
"""
AT = {"created_at": "2026-06-01T10:00:00.000Z", "created_at_epoch": 1_780_308_000_000}


def claude_mem(path: Path) -> Path:
    session = {
        "content_session_id": "claude-1",
        "memory_session_id": "sdk-1",
        "project": "harbour",
        "started_at": "2026-06-01T10:00:00.000Z",
        "started_at_epoch": 1_780_308_000_000,
        "status": "completed",
    }
    observation = {
        "memory_session_id": "sdk-1",
        "project": "harbour",
        "type": "decision",
        "title": "Ferry timetable",
        "subtitle": "Kept in one file",
        "narrative": "The timetable moved to ferry.toml.",
        "facts": '["ferry.toml holds all times"]',
        "concepts": '["timetable"]',
        "files_modified": '["ferry.toml"]',
        "prompt_number": 1,
        **AT,
    }
    summary = {
        "memory_session_id": "sdk-1",
        "project": "harbour",
        "request": "Move the timetable",
        "learned": "Times are strings.",
        "completed": "Moved it.",
        **AT,
    }
    prompt = {
        "content_session_id": "claude-1",
        "prompt_number": 1,
        "prompt_text": "Please move the timetable",
        **AT,
    }
    rows: dict[str, Sequence[dict[str, Any]]] = {
        "sdk_sessions": [session],
        "observations": [observation],
        "session_summaries": [summary],
        "user_prompts": [prompt],
    }
    return insert(path, CLAUDE_MEM_SCHEMA, rows)


def mem0(path: Path, *, listed: bool = False) -> Path:
    results = [
        {
            "id": "m-1",
            "memory": "Likes green tea",
            "hash": "abc",
            "metadata": {"category": "food"},
            "created_at": "2026-02-01T10:00:00-08:00",
            "updated_at": None,
            "user_id": "ada",
            "run_id": "run-7",
        },
        {"id": "m-2", "memory": f"The token is {SECRET}", "created_at": "2026-02-02T10:00:00-08:00"},
        {"id": "m-3", "memory": ""},
    ]
    path.write_text(json.dumps(results if listed else {"results": results}))
    return path


def basic_memory(folder: Path) -> Path:
    (folder / "harbour").mkdir(parents=True)
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian" / "plugin.md").write_text("- [x] not a note")
    (folder / "harbour" / "Ferry.md").write_text(
        "---\ntitle: Ferry\ntype: service\npermalink: harbour/ferry\ntags:\n- boats\n- summer\n"
        "author: ada\ncreated: 2026-03-01T10:00:00+00:00\n---\n\n# Ferry\n\nThe ferry crosses the bay.\n\n"
        "## Observations\n- [schedule] Runs in summer only #season (checked by phone)\n- [ ] call again\n"
        '- [00:01] a spoken line\n\n## Relations\n- docks_at [[Harbour]]\n- "run by" [[Missing Company]]\n'
    )
    (folder / "Harbour.md").write_text("The harbour is old. See [[Ferry]].\n")
    return folder
