"""status: what is there, where it is, and whether all of it can be found by meaning."""

from lore.distil.learnings import learnt_line
from lore.engine.agent_files import notes_of_agents
from lore.engine.consolidate.backlog import runs, staged
from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.engine.read import last_change
from lore.health import Status
from lore.version import VERSION


def status(context: Context, *, embeddings: Embeddings) -> Status:
    """A few counts; nothing is changed and no model is loaded."""
    run = next(iter(runs(context.reader)), None)
    report, counts = context.store.report(), context.reader.counts(embeddings.model)
    last = last_change(context.reader)
    return Status(
        version=VERSION,
        location=report.location,
        namespace=context.namespace,
        counts=counts,
        model=embeddings.model,
        embedding_state=embeddings.state,
        error=embeddings.trouble,
        embedded=counts.embedded,
        pending=counts.pending,
        size_bytes=report.size_bytes,
        last_write_at=None if last is None else last.at,
        staged_turns=sum(one.turns for one in staged(context.reader)),
        last_run=None if run is None else {**run, "learnt": learnt_line(run["counts"])},
        warnings=tuple(finding.detail for finding in report.warnings),
        index=report.index,
        agent_notes=notes_of_agents(context.reader),
    )
