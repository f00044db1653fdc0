"""verbs: the table of the menu's verbs: the right that each needs, whether it may be repeated, and where it
runs.

Every door that carries verbs between processes uses this table; argument and result types are those of the
methods' signatures. A new verb is one line here.
"""

from typing import Literal, NamedTuple

Right = Literal["read", "write", "admin"]


class Verb(NamedTuple):
    """repeatable: a second call does no harm when the answer to the first was lost. remote: all its values
    can be encoded (see `doors.codec`), so another process may call it."""

    right: Right
    repeatable: bool = True
    remote: bool = True


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
    "roots": Verb("read"),
    "explore": Verb("read"),
    "ids_like": Verb("read"),
    "history": Verb("read"),
    "similar": Verb("read", remote=False),
    "find_duplicate": Verb("read", remote=False),
    "brief": Verb("read", remote=False),
    "remind": Verb("read", remote=False),
    # --- changing memories
    "remember": Verb("write", repeatable=False),
    "remember_all": Verb("write", repeatable=False),
    "revise": Verb("write", repeatable=False),
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
    "import_graph": Verb("write", repeatable=False, remote=False),
    # --- sessions
    "ingest": Verb("write", remote=False),
    "import_file": Verb("write", remote=False),
    "staged": Verb("read"),
    "sessions": Verb("read"),
    "retry": Verb("admin", repeatable=False),
    # --- care
    "status": Verb("read"),
    "pending": Verb("read"),
    "check": Verb("admin"),
    "rebuild": Verb("admin"),
    "backup": Verb("admin", remote=False),
    "embed_pending": Verb("admin"),
    "embed_batch": Verb("admin"),
}
REMOTE = {name: verb for name, verb in VERBS.items() if verb.remote}
