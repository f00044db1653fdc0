"""The background work of a process that serves a store."""

import gc
import sys
from types import ModuleType

import anyio

from lore.doors.upkeep import spare_modules

NEW = "a_module_that_was_loaded_later"


def test_modules_are_kept_out_of_garbage_collections_as_they_are_loaded() -> None:
    async def spared() -> None:
        with anyio.fail_after(60):
            while not gc.get_freeze_count():
                await anyio.sleep(0.001)

    async def load_one() -> None:
        async with anyio.create_task_group() as chores:
            chores.start_soon(spare_modules, 0.001)
            await spared()
            gc.unfreeze()
            sys.modules[NEW] = ModuleType(NEW)
            await spared()
            chores.cancel_scope.cancel()

    gc.unfreeze()  # what the run has spared (tests/conftest.py)
    try:
        anyio.run(load_one)
    finally:
        sys.modules.pop(NEW, None)
        gc.freeze()
