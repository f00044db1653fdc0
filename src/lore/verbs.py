"""verbs: the table of the menu's verbs: the right that each needs, whether it may be repeated, and who may
call it.

Every door that carries verbs between processes uses this table; argument and result types are those of the
methods' signatures. A new verb is one line here.
"""

from typing import Literal, NamedTuple

Right = Literal["read", "write", "admin"]


class Verb(NamedTuple):
    """repeatable: a second call does no harm when the answer to the first was lost. remote: all its values
    can be encoded (see `doors.codec`), so another process may call it. local: no route of the API: it
    takes functions, reads files of the machine on which it runs, or is called by a route of another kind."""

    right: Right
    repeatable: bool = True
    remote: bool = True
    local: bool = False


VERBS: dict[str, Verb] = {
    # --- finding memories
    "search": Verb("read"),
    "recall": Verb("read"),
    "select": Verb("read"),
    "count": Verb("read"),
    "count_below": Verb("read"),
    "projects": Verb("read"),
    "read": Verb("read"),
    "read_many": Verb("read"),
    "full_texts": Verb("read"),
    "links": Verb("read"),
    "successors": Verb("read"),
    "roots": Verb("read"),
    "explore": Verb("read"),
    "ids_like": Verb("read"),
    "history": Verb("read"),
    "similar": Verb("read", remote=False),
    "find_duplicate": Verb("read", remote=False),
    # --- files of the caller's repository
    "citations": Verb("read", local=True),
    "verify": Verb("read", remote=False, local=True),
    "cite": Verb("write", local=True),
    "pitfalls": Verb("read"),
    "brief": Verb("read"),
    "remind": Verb("read"),
    # --- changing memories
    "remember": Verb("write", repeatable=False),
    "remember_all": Verb("write", repeatable=False),
    "revise": Verb("write", repeatable=False),
    "edit_file": Verb("write", repeatable=False, remote=False, local=True),
    "move_files": Verb("write", repeatable=False),
    "supersede": Verb("write", repeatable=False),
    "forget": Verb("write", repeatable=False),
    "restore": Verb("write", repeatable=False),
    "rate": Verb("write", repeatable=False, remote=False),
    "reflect": Verb("write", repeatable=False, remote=False),
    "link": Verb("write", repeatable=False),
    "unlink": Verb("write", repeatable=False),
    "recommend": Verb("read", remote=False),
    "suggestions": Verb("read", remote=False),
    "review": Verb("write", repeatable=False, remote=False),
    # --- entities, observations and relations
    "entities": Verb("read"),
    "observations": Verb("read"),
    "relations": Verb("read", remote=False),
    "nodes": Verb("read", remote=False),
    "open_nodes": Verb("read", remote=False),
    "by_alias": Verb("read"),
    "search_entities": Verb("read", remote=False),
    "reflections": Verb("read", remote=False),
    "introduce": Verb("write", repeatable=False, remote=False),
    "observe": Verb("write", repeatable=False, remote=False),
    "retract": Verb("write", repeatable=False, remote=False),
    "relate": Verb("write", repeatable=False, remote=False),
    "unrelate": Verb("write", repeatable=False, remote=False),
    "end_relation": Verb("write", repeatable=False, remote=False),
    "analyse": Verb("read", remote=False),
    "split": Verb("write", repeatable=False, remote=False),
    "find_repetitions": Verb("read", remote=False),
    "graph_report": Verb("read", remote=False),
    "import_graph": Verb("write", repeatable=False, remote=False, local=True),
    # --- the store as a whole and its past
    "browse": Verb("read"),
    "activity": Verb("read"),
    "growth": Verb("read"),
    "knowledge_map": Verb("read"),
    "relevance_curve": Verb("read"),
    "known_at": Verb("read"),
    "learnt": Verb("read"),
    "forget_where": Verb("write", repeatable=False),
    "inbox": Verb("read", remote=False),
    "judge": Verb("admin", repeatable=False),
    "purge": Verb("admin", repeatable=False),
    "undo": Verb("write", repeatable=False),
    # --- moving memories in and out
    "export": Verb("admin", remote=False, local=True),
    "import_memories": Verb("admin", remote=False, local=True),
    "undo_import": Verb("admin", remote=False, local=True),
    # --- sessions
    "ingest": Verb("write", remote=False, local=True),
    "import_file": Verb("write", remote=False, local=True),
    "read_agent_files": Verb("write", remote=False, local=True),
    "staged": Verb("read"),
    "sessions": Verb("read"),
    "keep_accounts": Verb("write"),
    "retry": Verb("admin", repeatable=False),
    # --- other stores
    "keep_pushed": Verb("write", remote=False, local=True),
    "outgoing": Verb("read", remote=False, local=True),
    "changes": Verb("read", remote=False, local=True),
    "changes_of": Verb("read", remote=False, local=True),
    "merge": Verb("write", remote=False, local=True),
    "sync_mark": Verb("read", remote=False, local=True),
    "move_sync_mark": Verb("write", remote=False, local=True),
    # --- care
    "status": Verb("read"),
    "pending": Verb("read"),
    "check": Verb("admin"),
    "rebuild": Verb("admin"),
    "build_index": Verb("admin", remote=False, local=True),
    "backup": Verb("admin", remote=False, local=True),
    "embed_pending": Verb("admin"),
    "embed_batch": Verb("admin"),
}
WHOLE_STORE = frozenset({"pending", "check", "rebuild", "embed_pending", "embed_batch"})
"""Verbs about the memories of all, which over HTTP need a right for the whole store."""
REMOTE = {name: verb for name, verb in VERBS.items() if verb.remote}
OVER_HTTP = {name: verb for name, verb in VERBS.items() if not verb.local}
