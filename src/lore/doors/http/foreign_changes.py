"""foreign_changes: what other servers of the same store change is made known to the clients of this one."""

from functools import partial

import anyio
import anyio.from_thread
import anyio.to_thread

from lore.doors.http.served import Served
from lore.store import SharedStore


async def follow_foreign_changes(served: Served) -> None:
    """Notify the subscribers of each tenant that another server changes, and embed what it has written."""
    store = served.lore.store
    if isinstance(store, SharedStore):
        follow = partial(store.follow, partial(_notify, served), served.stopping.is_set)
        await anyio.to_thread.run_sync(follow, abandon_on_cancel=True)


def _notify(served: Served, tenant: str) -> None:
    served.lore.background.wake()
    if not served.stopping.is_set():
        anyio.from_thread.run(served.audience.notify, tenant)
