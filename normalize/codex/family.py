"""The families of `codex exec --json` and `codex app-server`."""

from turnwire.normalize.codex.first_member import load
from turnwire.normalize.streams.family import stream_family
from turnwire.protocol.json_wire import LineShape, any_of

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
    agents="turnwire.adapter.one_shot.family:CODEX_EXEC",
)

CODEX_APP_SERVER = stream_family(
    name="codex-app-server",
    title="Codex (codex app-server)",
    reader="turnwire.normalize.codex.app_server_reader:AppServerReader",
    claims=any_of(
        LineShape(None, ("method", "params"), ("jsonrpc",)),
        LineShape(None, ("id", "result"), ("jsonrpc",)),
        LineShape(None, ("id", "error"), ("jsonrpc",)),
        LineShape(None, ("method",), ("jsonrpc", "id")),
    ),
    agents="turnwire.adapter.codex.family:CODEX",
)
