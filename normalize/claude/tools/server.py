"""Tools that the API itself runs. Their calls and results are blocks in the assistant's message.

`web_search_tool_result` has a list of hits, `web_fetch_tool_result` a document, `mcp_tool_result` any tool's content, the
others objects of their own. Content of a type `…_error` has the code of a failure. Hits and pages are published in
the form of the CLI's own WebSearch and WebFetch.
"""

from turnwire.normalize.payloads.fields import fields, objects, text
from turnwire.protocol.claude.blocks import ToolResultBlock, UnknownBlock
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.parsing import lenient

_HIT = ("title", "url", "page_age")
"""Published members of a hit. Its content is encrypted."""


def call(block: UnknownBlock) -> tuple[str, str, JsonObject] | None:
    """Return id, name and arguments of a call to an MCP server that the API reaches; None for another block."""
    raw = fields(block.raw)
    call_id = text(raw, "id")
    if block.type != "mcp_tool_use" or not call_id:
        return None
    return call_id, f"mcp__{text(raw, 'server_name')}__{text(raw, 'name')}", fields(raw.get("input"))


def result(block: UnknownBlock) -> tuple[ToolResultBlock, Json]:
    """Return a block that answers a call as the result of a tool, with its structured result."""
    call_id, content = block.tool_use_id, block.content
    answer = fields(content)
    kind = text(answer, "type") or ""
    if kind.endswith("_error"):
        said = text(answer, "error_message") or text(answer, "error_code") or kind
        return ToolResultBlock(call_id, said, is_error=True), None
    match block.type:
        case "mcp_tool_result":
            return lenient.build(ToolResultBlock, fields(block.raw)), None
        case "web_search_tool_result":
            hits = objects({"hits": content}, "hits")
            found: list[Json] = [{name: hit[name] for name in _HIT if hit.get(name)} for hit in hits]
            return ToolResultBlock(call_id, ""), {"results": [{"content": found}]}
        case "web_fetch_tool_result":
            source = fields(fields(answer.get("content")).get("source"))
            page = text(source, "data") if text(source, "type") == "text" else None
            return ToolResultBlock(call_id, page or ""), {"url": answer.get("url")}
        case _:
            return ToolResultBlock(call_id, [block]), content
