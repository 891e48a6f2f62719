"""The family of `codex exec --json`."""

from turnwire.normalize.codex.first_member import load
from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.wire import LineShape, any_of

CODEX_EXEC = stream_family(
    name="codex-exec",
    title="Codex (codex exec --json)",
    reader="turnwire.normalize.codex.exec_reader:CodexExecReader",
    claims=any_of(
        LineShape("thread.started", ("thread_id",)),
        LineShape("turn.started", lacks=("data", "properties")),
        LineShape("item.started", ("item",)),
        LineShape("item.updated", ("item",)),
        LineShape("item.completed", ("item",)),
        LineShape("turn.completed", ("usage",)),
        LineShape("turn.failed", ("error",)),
    ),
    load=load,
)
