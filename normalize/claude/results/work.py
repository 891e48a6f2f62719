"""Results of the tools that reach the network, delegate, or have no kind of their own."""

import re

from msgspec import to_builtins
from msgspec.structs import replace

from turnwire.normalize.claude.results.answer import ToolAnswer
from turnwire.normalize.model import JsonObject, JsonValue
from turnwire.normalize.payloads.fields import fields, objects, parsed, shallow, text, texts, whole
from turnwire.normalize.payloads.files import ContentPart
from turnwire.normalize.payloads.work import Generic, HttpRequest, McpTool, Misc, SubagentOutput, SubagentTask

_LINKS = re.compile(r"^Links: (\[.*\])$", re.MULTILINE)
_AGENT = re.compile(r"^agentId: (\w+)", re.MULTILINE)
_USAGE = re.compile(r"<usage>([^<]*)</usage>\s*\Z")
_HANDED_BACK = "[Subagent hand-back]"


def http(body: HttpRequest, answer: ToolAnswer) -> HttpRequest:
    """Return a request with its response."""
    result = answer.fields
    if answer.reason is not None:
        return replace(body, is_error=True, response=answer.error)
    if body.method == "SEARCH":
        return _searched(body, result, answer.text)
    status = whole(result, "code")
    return replace(
        body,
        url=text(result, "url") or body.url,
        status=status,
        bytes=whole(result, "bytes"),
        response=text(result, "result") or answer.text,
        is_error=status is not None and status >= 400,
    )


def _searched(body: HttpRequest, result: JsonObject, said: str) -> HttpRequest:
    hits: list[JsonObject] = []
    for found in objects(result, "results"):
        hits += [fields(shallow(hit)) for hit in objects(found, "content")]
    if "results" not in result:
        for links in _LINKS.findall(said):
            hits += objects({"list": shallow(parsed(links))}, "list")
    spoken = texts(result, "results")
    # The CLI asks the model to name its sources.
    response = "\n\n".join(spoken) if spoken else said.rpartition("\nREMINDER: ")[0].rstrip("\n") or said
    return replace(body, results=hits, response=response, is_error=False)


def subagent(body: SubagentTask, answer: ToolAnswer) -> SubagentTask:
    """Return a subagent's task with its result, or with the mark that it continues in the background."""
    result = answer.fields
    if answer.reason is not None:
        return replace(body, output=SubagentOutput(status=answer.reason, text=answer.error))
    launched = _launched(result) or answer.text.startswith("Async agent launched")
    said, totals = _report(answer)
    agent = _AGENT.search(answer.text)
    output = SubagentOutput(
        status=text(result, "status") or ("async_launched" if launched else "completed"),
        text=None if launched else said,
        agent_id=text(result, "agentId", "taskId") or (agent[1] if agent else None),
        duration_ms=_first(whole(result, "totalDurationMs"), whole(totals, "duration_ms")),
        total_tokens=_first(whole(result, "totalTokens"), whole(totals, "total_tokens", "subagent_tokens")),
        tool_use_count=_first(whole(result, "totalToolUseCount"), whole(totals, "tool_uses")),
        model=text(result, "resolvedModel"),
    )
    return replace(body, background=True if launched else body.background, output=output)


def _launched(result: JsonObject) -> bool:
    return result.get("isAsync") is True or (text(result, "status") or "").endswith("_launched")


def _report(answer: ToolAnswer) -> tuple[str, JsonObject]:
    """Return the subagent's own words and its totals, without the CLI's notes before and behind them."""
    usage = _USAGE.search(answer.text)
    totals: JsonObject = {}
    for line in usage[1].split("\n") if usage else []:
        name, _, value = line.partition(":")
        totals[name.strip()] = value.strip()
    if "content" in answer.fields:
        words = [text(part, "text") or "" for part in objects(answer.fields, "content")]
        before = whole(answer.fields, "harnessNoteCount") or 0
        behind = whole(answer.fields, "harnessTailCount") or 0
        return "\n".join(words[before : len(words) - behind]), totals
    _, handed, report = answer.text.partition(_HANDED_BACK)
    if handed:
        report = report.partition("\n")[2].rpartition("\nagentId: ")[0] or report.partition("\n")[2]
        return "\n".join(line.removeprefix("  ") for line in report.split("\n")), totals
    spoken = [part.text for part in answer.parts if part.text is not None and not _AGENT.match(part.text)]
    return "\n".join(spoken), totals


def _first(known: int | None, parsed: int | None) -> int | None:
    return parsed if known is None else known


def mcp(body: McpTool, answer: ToolAnswer) -> McpTool:
    """Add the parts that a server answered."""
    parts = answer.parts
    if answer.error is not None:
        parts = [
            ContentPart(type="text", text=answer.error),
            *(part for part in parts if part.type != "text"),
        ]
    return replace(body, output=parts, is_error=answer.reason is not None)


def generic(body: Generic, answer: ToolAnswer) -> Generic:
    """Add whatever there is."""
    return replace(body, output=_whatever(answer))


def misc(body: Misc, answer: ToolAnswer) -> Misc:
    """Return a call of a smaller tool with the fields of its result."""
    return replace(body, details={**fields(body.details), "output": _whatever(answer)})


def _whatever(answer: ToolAnswer) -> JsonValue:
    if answer.error is not None:
        return answer.error
    if isinstance(answer.structured, dict | list):
        return shallow(answer.structured)
    if all(part.type == "text" for part in answer.parts):
        return answer.text
    return [to_builtins(part) for part in answer.parts]
