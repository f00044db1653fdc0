"""A process that keeps memories in PostgreSQL until it is killed and prints their ids; or holds a lock."""

import sys
from itertools import count
from threading import Event

from lore.model import SHARED, Cause, Memory
from lore.store import open_store

url, name = sys.argv[1:]
store = open_store(url)
if name == "hold":
    with store.exclusive("sweep"):
        print("held", flush=True)
        Event().wait()
for number in count():
    id = f"{name}-{number}"
    with store.transaction(SHARED, Cause(verb="test"), 1.0) as writer:
        writer.put([Memory(id=id, content="about the harbour", created_at=1, updated_at=1)])
    print(id, flush=True)
