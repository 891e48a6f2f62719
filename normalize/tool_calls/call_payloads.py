"""What a call does and what came of it, as payloads: from its kind, its name, its arguments and what it shows.

The name decides where it is one that is known, then the arguments, then the kind: agents call a search `read`, and an
MCP tool `execute`.
"""

import re
from typing import Literal

from msgspec.structs import replace

from turnwire.normalize import payloads
from turnwire.normalize.common.command_line import command_line
from turnwire.normalize.common.content_parts import part
from turnwire.normalize.payloads import NormalizedPayload, titles
from turnwire.normalize.payloads.fields import fields, flag, objects, shallow, text, texts, whole
from turnwire.normalize.payloads.files import (
    CodeSearch,
    ContentPart,
    ModifyFile,
    ModifyOutput,
    ReadFile,
    ReadOutput,
    SearchMatch,
    SearchOutput,
)
from turnwire.normalize.payloads.questions import questions
from turnwire.normalize.payloads.work import (
    AskUser,
    Generic,
    HttpRequest,
    ManageTodos,
    McpTool,
    Question,
    ShellExec,
    ShellOutput,
    ShowPlan,
    SubagentOutput,
    SubagentTask,
    TodoItem,
)
from turnwire.normalize.tool_calls import call_diffs
from turnwire.normalize.tool_calls.call_quirks import CallQuirks
from turnwire.normalize.tool_calls.tool_call_state import ToolCallState
from turnwire.protocol.acp.content import ShownContent
from turnwire.protocol.acp.updates import ToolCallUpdate
from turnwire.protocol.json_values import Json, JsonObject

Status = Literal["running", "complete", "error"]

_PATHS = (
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "filename",
    "file",
    "fileName",
    "filepath",
    "target_file",
    "notebook_path",
)
_COMMANDS = ("command", "cmd", "commandLine", "script")
_EDIT_FIELDS = frozenset({"old_string", "old_str", "oldString", "new_string", "new_str", "newString"})
_TODO = re.compile(r"(?i)\Atodo|todo_?(?:write|list|read)|write_todos|update_plan|update_?todos|\Aset_?todo")
_TODO_LISTS = ("todos", "entries", "items", "plan", "todoList")
_MCP_NAME = re.compile(r"\Amcp__(.{1,100}?)__(.{1,200})\Z", re.DOTALL)
_MCP_TITLE = re.compile(r"\A(.{1,200}) \((.{1,100}) MCP Server\)\Z")
_GEMINI_SEARCH = re.compile(r"\A'(.{1,500}?)'(?: in .{1,200}?)?(?: within (.{1,500}))?\Z")
_SUBAGENT = re.compile(r"\A(?:sub-agent-([\w-]{1,64})|delegate): (.*)\Z", re.DOTALL)
"""Titles of Auggie and of Hermes."""
_DISPATCHED = re.compile(r'\A\{"status": "dispatched", "mode": "background"')
_NO_OUTPUT = "(no output)"
"""Output that Kilo, OpenCode and pi make up."""
_PLACE = re.compile(r"\A- (.{1,1000}):(\d{1,9})\Z")
"""A line of Hermes, before the line that was found."""
_FOUND = re.compile(r"\AFound (\d{1,9}) (matching file|match|file|result)")
_LIST = re.compile(r"\AList(?:ing)? files in '?(.{0,1000}?)'?\Z")
_READS = re.compile(r"\ARead(?:ing)? (?:file )?'?([^']{0,2000}[./][^']{0,2000}?)'?\Z")
_SEARCHES = re.compile(r"\ASearch(?:ing)? for '(.{0,500})'(?: in (.{1,500}))?\Z")
_FINDS = re.compile(r"(?i)\A(?:find|glob|finding|list)|glob|list_directory|find_files")
_MATCH = re.compile(r"\A((?:[A-Za-z]:)?[^:\n]{1,1000}):(\d{1,9})[:-](.*)\Z")
_PLAIN_PATH = re.compile(r"\A[^\s:*?\"<>|]{1,1000}\Z")
_NUMBERED = re.compile(r"\A\s*(\d{1,9})(?:\t|→)(.*)\Z", re.DOTALL)
_NUMBERED_INSIDE = re.compile(r"\A\s*(\d{1,9})(?:\| ?|: ?)(.*)\Z", re.DOTALL)
_BEFORE = re.compile(r"\A(?:<(?:path|type)>[^\n]{0,2000}\n){0,4}<(?:file|content)>\n")
_BEHIND = re.compile(r"\n*(?:\((?:End of|File has|Showing)[^\n]{0,300}\)\n)?</(?:file|content)>\s*\Z")
_MOST_LINES = 100_000
"""Lines of a result that are read one by one."""

_ANY_WORDS: dict[str, titles.Words] = {}


def payload(
    facts: ToolCallState, quirks: CallQuirks, status: Status = "running", *, denied: bool = False
) -> NormalizedPayload:
    """Return what a call does; with its output once it has ended, or as far as a running command has shown it."""
    if _tells_command(facts):
        return _shell(facts, quirks, status, denied=denied)  # whatever its title would be read as
    made = (
        _mcp(facts, status)
        or _known(facts, quirks, status, denied)
        or _by_kind(facts, quirks, status, denied)
    )
    return made or _generic(facts, status)


def name_of(facts: ToolCallState) -> str:
    """Return the tool's name, or what comes closest to one; never empty."""
    if facts.name:
        return facts.name
    if facts.kind in (None, "other"):
        return facts.title or "tool"
    return facts.kind or "tool"


def title_of(facts: ToolCallState, made: NormalizedPayload) -> str:
    """Return one line for humans: the agent's own, or one made of the payload."""
    own = titles.printable(" ".join(facts.title.split())) if facts.title else ""
    if own and own != facts.name and own.isprintable():
        return own if len(own) <= titles.LIMIT else own[: titles.LIMIT - 1] + "…"
    return titles.title_of(name_of(facts), made, _ANY_WORDS)


def _mcp(facts: ToolCallState, status: Status) -> NormalizedPayload | None:
    arguments = facts.arguments
    server, tool, given = facts.mcp_server, None, arguments
    title = "" if facts.does == "execute" else facts.title[:400]
    named = _MCP_NAME.match(facts.name or title)
    titled = _MCP_TITLE.match(title)
    if named is not None:
        server, tool = named[1], named[2]
    elif titled is not None:
        tool, server = titled[1], titled[2]
    elif isinstance(arguments.get("server"), str) and isinstance(arguments.get("tool"), str):
        server, tool, given = arguments["server"], arguments["tool"], fields(arguments.get("arguments"))
    elif facts.is_mcp or server is not None:
        server, tool = server or "", facts.name or facts.title
    if server is None or tool is None:
        return None
    body = McpTool(server=server, tool=tool, input=fields(shallow(given)))
    if status != "running":
        body = McpTool(
            server=server,
            tool=tool,
            input=body.input,
            output=_result_parts(facts),
            is_error=status == "error" or None,
        )
    return payloads.McpToolPayload(mcp_tool=body)


def _known(
    facts: ToolCallState, quirks: CallQuirks, status: Status, denied: bool
) -> NormalizedPayload | None:
    """Tell by the name, or by arguments that only one sort of tool has."""
    arguments, name = facts.arguments, facts.name or ""
    todo = _todos(facts, arguments)
    if todo is not None:
        return todo
    match name:
        case "EnterPlanMode" | "enter_plan_mode":
            return payloads.ShowPlanPayload(show_plan=ShowPlan(operation="enter"))
        case "ExitPlanMode" | "exit_plan_mode":
            approved = None if status == "running" else status == "complete"
            plan = ShowPlan(operation="exit", plan=text(arguments, "plan"), approved=approved)
            return payloads.ShowPlanPayload(show_plan=plan)
        case "AskUserQuestion" | "ask_user" | "ask_user_question" | "question":
            asked = questions(arguments)
            return (
                payloads.AskUserPayload(ask_user=AskUser(questions=asked, answers=_answers(facts, asked)))
                if asked
                else None
            )
        case "WebSearch" | "web_search" | "google_web_search":
            return _http(facts, status)
        case _:
            pass
    if _is_delegation(arguments, name) or _SUBAGENT.match(facts.title[:500]):
        return _subagent(facts, status)
    if facts.does in (None, "other", "think") and not _EDIT_FIELDS.isdisjoint(arguments):
        return _modify(facts, quirks, status, denied)
    return None


def _by_kind(
    facts: ToolCallState, quirks: CallQuirks, status: Status, denied: bool
) -> NormalizedPayload | None:
    arguments = facts.arguments
    match facts.does:
        case "edit" | "delete" | "move":
            return _modify(facts, quirks, status, denied)
        case "execute":
            return _shell(facts, quirks, status, denied=denied)
        case "read":
            listed = _LIST.match(facts.title[:1100])
            if listed is not None or (
                "pattern" in arguments and not text(arguments, "file_path", "filePath")
            ):
                return _search(facts, status)
            return _read(facts, status)
        case "search":
            return _search(facts, status)
        case "fetch":
            return _http(facts, status)
        case None | "other" if command_line(arguments.get("command")):
            return _shell(facts, quirks, status, denied=denied)
        case _ if facts.diffs:
            return _modify(facts, quirks, status, denied)
        case _:
            return None


def _path(facts: ToolCallState) -> str:
    found = text(facts.arguments, *_PATHS)
    if not found:
        found = next((block.path for block in facts.diffs if block.path), None)
    return found or (facts.locations[0].path if facts.locations else "")


# Files


def _read(facts: ToolCallState, status: Status) -> NormalizedPayload:
    arguments = facts.arguments
    path = _path(facts)
    if not path:
        titled = _READS.match(facts.title[:2100])
        path = titled[1] if titled else facts.title if "/" in facts.title or "." in facts.title else ""
    view = arguments.get("view_range")
    first, last = (None, None)
    if isinstance(view, list) and len(view) == 2:
        first, last = (number if isinstance(number, int) else None for number in view)
    limit = whole(arguments, "limit", "max_lines")
    if limit is None and first is not None and last is not None and last >= first:
        limit = last - first + 1
    body = ReadFile(
        file_path=path,
        offset=whole(arguments, "offset", "start_line", "startLine", "line") if first is None else first,
        limit=limit,
        output=_read_output(facts) if status == "complete" else None,
    )
    return payloads.ReadFilePayload(read_file=body)


def _read_output(facts: ToolCallState) -> ReadOutput | None:
    file = fields(fields(facts.response).get("file"))
    content = text(file, "content")
    if content is not None:
        total, start = whole(file, "totalLines"), whole(file, "startLine")
        count = content.count("\n") + 1
        return ReadOutput(
            content=content,
            line_count=count,
            start_line=start,
            total_lines=total,
            truncated=(total is not None and (start or 1) + count - 1 < total) or None,
        )
    images = [one for one in _shown_parts(facts) if one.type != "text"]
    content = facts.result_text() or facts.shown_text()
    if not content:
        return ReadOutput(parts=images) if images else None
    wrapped = _BEFORE.match(content[:5000])
    if wrapped is not None:
        end = _BEHIND.search(content, max(len(content) - 400, 0))
        content = content[wrapped.end() : end.start() if end else len(content)]
    start, content = _unnumbered(content, _NUMBERED if wrapped is None else _NUMBERED_INSIDE)
    return ReadOutput(
        content=content, line_count=content.count("\n") + 1, start_line=start, parts=images or None
    )


def _unnumbered(content: str, numbered: re.Pattern[str]) -> tuple[int | None, str]:
    """Return a text without the line numbers that an agent shows its model, and the first of them."""
    lines = content.split("\n", _MOST_LINES)
    first = numbered.match(lines[0])
    if first is None or len(lines) > _MOST_LINES:
        return None, content
    start, bare = int(first[1]), list[str]()
    for number, line in enumerate(lines, start):
        found = numbered.match(line)
        if found is None or int(found[1]) != number:
            return None, content
        bare.append(found[2])
    return start, "\n".join(bare)


def _modify(facts: ToolCallState, quirks: CallQuirks, status: Status, denied: bool) -> NormalizedPayload:
    path = _path(facts)
    made = call_diffs.mutations(facts, quirks, path=path)
    if not path and made:
        path = made[0].file_path or ""
    output = None
    if status != "running":
        added, removed = call_diffs.counted(made) if status == "complete" else (None, None)
        said = facts.result_text() or None
        output = ModifyOutput(
            applied=status == "complete" and not denied,
            created=True if status == "complete" and any(one.type == "create" for one in made) else None,
            added_lines=added,
            removed_lines=removed,
            user_modified=flag(fields(facts.response), "userModified") or None,
            message=said,
        )
    return payloads.ModifyFilePayload(modify_file=ModifyFile(file_path=path, mutations=made, output=output))


def _search(facts: ToolCallState, status: Status) -> NormalizedPayload:
    arguments = facts.arguments
    pattern = text(arguments, "pattern", "glob", "glob_pattern", "globPattern")
    query = text(arguments, "query", "regex", "search", "search_term", "content_pattern")
    path = text(arguments, "path", "dir_path", "directory", "targetDirectory", "paths", "root") or (
        facts.locations[0].path if facts.locations else None
    )
    listed = _LIST.match(facts.title[:1100])
    asked = _SEARCHES.match(facts.title[:1100]) or _GEMINI_SEARCH.match(facts.title[:1100])
    if listed is not None:
        path = path or listed[1] or None
    elif asked is not None:
        if pattern is None and query is None:
            found = asked[1]
            query, pattern = (None, found) if _FINDS.search((facts.name or "")[:100]) else (found, None)
        path = path or asked[2]
    if (
        pattern is not None
        and query is None
        and listed is None
        and not _FINDS.search((facts.name or facts.title)[:100])
    ):
        query, pattern = pattern, None
    body = CodeSearch(
        query=query,
        pattern=pattern,
        path=path,
        glob=text(arguments, "include", "glob") if query is not None else None,
        case_insensitive=flag(arguments, "-i", "case_insensitive") or None,
        limit=whole(arguments, "limit", "head_limit", "max_results"),
        output=_found(facts) if status == "complete" else None,
    )
    return payloads.CodeSearchPayload(code_search=body)


def _found(facts: ToolCallState) -> SearchOutput | None:
    told = (facts.result_text() or facts.shown_text()).strip("\n")
    if not told.strip():
        return SearchOutput()
    lines = told.split("\n", _MOST_LINES)[:_MOST_LINES]
    hits = [_MATCH.match(line) for line in lines]
    if any(hits):
        matches = [
            SearchMatch(text=line) if hit is None else SearchMatch(file=hit[1], line=int(hit[2]), text=hit[3])
            for line, hit in zip(lines, hits, strict=True)
        ]
        files = list(dict.fromkeys(hit[1] for hit in hits if hit is not None))
        return SearchOutput(
            files=files,
            file_count=len(files),
            match_count=sum(hit is not None for hit in hits),
            matches=matches,
        )
    if places := _places(lines):
        files = list(dict.fromkeys(one.file for one in places if one.file is not None))
        return SearchOutput(files=files, file_count=len(files), match_count=len(places), matches=places)
    filled = [line.strip() for line in lines if line.strip()]
    counted = _FOUND.match(filled[0])
    if counted is not None and len(filled) == 1:
        count = int(counted[1])
        return SearchOutput(match_count=count) if counted[2] == "match" else SearchOutput(file_count=count)
    if all(_PLAIN_PATH.match(line) for line in filled):
        return SearchOutput(files=filled, file_count=len(filled))
    return SearchOutput(matches=[SearchMatch(text=line) for line in lines])


def _places(lines: list[str]) -> list[SearchMatch]:
    """Return matches of which each has its place on a line of its own, and the text indented after it."""
    places: list[tuple[re.Match[str], list[str]]] = []
    for line in lines:
        if (place := _PLACE.match(line)) is not None:
            places.append((place, []))
        elif places and line.startswith("  "):
            places[-1][1].append(line[2:])
    return [SearchMatch(file=place[1], line=int(place[2]), text="\n".join(found)) for place, found in places]


# Commands, pages, subagents


def _tells_command(facts: ToolCallState) -> bool:
    """Tell whether a call runs a command that its arguments have, and not a tool of a server that has an argument of that name."""
    return (
        facts.does == "execute"
        and not facts.is_mcp
        and facts.mcp_server is None
        and any(command_line(facts.arguments.get(name)) for name in _COMMANDS)
    )


def command_of(facts: ToolCallState, quirks: CallQuirks) -> str | None:
    """Return the command of a call that runs one; None where the agent does not tell it."""
    told = (command_line(facts.arguments.get(name)) for name in _COMMANDS)
    return next((line for line in told if line), None) or facts.command or quirks.command(facts) or None


def subject_of(facts: ToolCallState, quirks: CallQuirks) -> tuple[str, str] | None:
    """Return what a call is about, for whom its id says nothing: its command, or its kind and path; None where it tells neither.

    The kind is empty where a call with a path tells none.
    """
    command = command_of(facts, quirks)
    if command is not None or facts.does == "execute":
        return None if command is None else ("execute", command)
    path = _path(facts)
    return (facts.does or "", path) if path else None


def told_of(facts: ToolCallState, quirks: CallQuirks, call_id: str) -> ToolCallUpdate:
    """Return what was told of a call before it ran, as one update; of a command, the arguments have it as `command`, where it is told."""
    told = facts.as_update(call_id)
    if facts.does != "execute":
        return told
    command = command_of(facts, quirks)
    others = {name: value for name, value in facts.arguments.items() if name != "command"}
    return replace(
        told, kind="execute", raw_input=others if command is None else {**others, "command": command}
    )


def command_title(facts: ToolCallState, made: NormalizedPayload) -> str | None:
    """Return the title of a permission request to run a command; None of a request for anything else."""
    title = titles.title_of_request(made)
    if title is None and facts.does == "execute" and not isinstance(made, payloads.McpToolPayload):
        return titles.UNKNOWN_COMMAND
    return title


def _shell(facts: ToolCallState, quirks: CallQuirks, status: Status, *, denied: bool) -> NormalizedPayload:
    arguments = facts.arguments
    body = ShellExec(
        command=command_of(facts, quirks) or "",
        work_dir=text(arguments, "cwd", "workdir", "work_dir", "directory") or facts.work_dir,
        description=text(arguments, "description"),
        timeout=whole(arguments, "timeout", "timeout_ms"),
        background=flag(arguments, "run_in_background", "is_background", "isBackground", "background")
        or (facts.name == "Monitor")
        or None,
        output=None if denied else _shell_output(facts, quirks, status),
    )
    return payloads.ShellExecPayload(shell_exec=body)


def _shell_output(facts: ToolCallState, quirks: CallQuirks, status: Status) -> ShellOutput | None:
    if status == "running":
        shown = facts.result_text() if facts.terminal or facts.raw_output is not None else _said_so_far(facts)
        return ShellOutput(stdout=shown) if shown else None
    output = facts.result_text()
    if not output and facts.raw_output is None:
        output = facts.shown_text()
    code, output = facts.exit_of(output, quirks, failed=status == "error")
    if output == _NO_OUTPUT:
        output = ""
    response = fields(facts.response)
    stdout, stderr = text(response, "stdout"), text(response, "stderr")
    interrupted = flag(response, "interrupted")
    return ShellOutput(
        exit_code=code,
        stdout=(output or None) if stdout is None else stdout or None,
        stderr=stderr or None,
        interrupted=interrupted or None,
    )


def _said_so_far(facts: ToolCallState) -> str:
    """Return what a command without a terminal has shown; before it runs, calls show what it is for."""
    shown = facts.shown_text()
    is_about = (
        facts.streamed_arguments
        or facts.shows_question
        or shown == text(facts.arguments, "description")
        or not facts.arguments
    )
    return "" if is_about or shown.startswith("[current working directory ") else shown


def _http(facts: ToolCallState, status: Status) -> NormalizedPayload:
    arguments = facts.arguments
    url, query = text(arguments, "url", "uri"), text(arguments, "query", "search_query", "searchTerm", "q")
    body = HttpRequest(
        url=url,
        method="SEARCH" if url is None and query is not None else text(arguments, "method") or "GET",
        query=query,
        prompt=text(arguments, "prompt"),
        response=(facts.result_text() or facts.shown_text() or None) if status != "running" else None,
        is_error=True if status == "error" else None,
    )
    return payloads.HttpRequestPayload(http_request=body)


def _is_delegation(arguments: JsonObject, name: str) -> bool:
    if not isinstance(arguments.get("prompt"), str):
        return False
    return name in ("Task", "Agent", "task", "agent", "spawn_subagent") or not {
        "subagent_type",
        "subagentType",
        "agent_type",
        "agentType",
        "subagent_name",
    }.isdisjoint(arguments)


def _subagent(facts: ToolCallState, status: Status) -> NormalizedPayload:
    arguments, response = facts.arguments, fields(facts.response)
    titled = _SUBAGENT.match(facts.title[:500])
    said = facts.shown_text() or facts.result_text()
    launched = text(response, "status") == "async_launched" or bool(_DISPATCHED.match(said))
    output = None
    if status != "running":
        output = SubagentOutput(
            status="failed" if status == "error" else "async_launched" if launched else "completed",
            text=said or None,
        )
    body = SubagentTask(
        description=text(arguments, "description") or (titled[2] if titled else facts.title),
        prompt=text(arguments, "prompt") or "",
        subagent_type=text(
            arguments, "subagent_type", "subagentType", "agent_type", "agentType", "subagent_name"
        )
        or (titled[1] if titled else None),
        background=flag(arguments, "run_in_background") or launched or None,
        model=text(arguments, "model"),
        output=output,
    )
    return payloads.SubagentTaskPayload(subagent_task=body)


# Plans and questions


def entries(listed: list[JsonObject]) -> list[TodoItem]:
    """Return the entries of a plan or a list of things to do."""
    return [
        TodoItem(
            id=text(entry, "id") or str(place),
            description=text(entry, "content", "title", "description", "text", "step", "task") or "",
            status=_todo_status(text(entry, "status") or ("completed" if entry.get("done") is True else "")),
            active_form=text(entry, "activeForm", "active_form"),
        )
        for place, entry in enumerate(listed[:_MOST_LINES], 1)
    ]


def _todo_status(said: str) -> str:
    known = {"done": "completed", "complete": "completed", "todo": "pending", "inProgress": "in_progress"}
    return known.get(said, said)


def _todos(facts: ToolCallState, arguments: JsonObject) -> NormalizedPayload | None:
    if not _TODO.search((facts.name or facts.title)[:200]):
        return None
    listed = next((name for name in _TODO_LISTS if isinstance(arguments.get(name), list)), None)
    if listed is None:
        return payloads.ManageTodosPayload(manage_todos=ManageTodos(operation="list", items=[]))
    items = entries(objects(arguments, listed))
    old = objects(fields(facts.response), "oldTodos")
    return payloads.ManageTodosPayload(
        manage_todos=ManageTodos(operation="write", items=items, old_items=entries(old) if old else None)
    )


def _answers(facts: ToolCallState, asked: list[Question]) -> dict[str, str] | None:
    """Return the answers in a result of OpenCode, which has a list of labels for each question."""
    given = fields(fields(facts.raw_output).get("metadata")).get("answers")
    if not isinstance(given, list):
        return None
    labels = (texts({"": one}, "") or () for one in given)
    return {one.question: ", ".join(chosen) for one, chosen in zip(asked, labels, strict=False)}


# Anything else


def _generic(facts: ToolCallState, status: Status) -> NormalizedPayload:
    output: Json = None
    if status != "running":
        told = facts.raw_output
        output = (
            shallow(told) if told not in (None, "") else facts.result_text() or facts.shown_text() or None
        )
    given = None if facts.raw_input is None else shallow(facts.raw_input)
    return payloads.GenericPayload(generic=Generic(name=name_of(facts), input=given, output=output))


def _shown_parts(facts: ToolCallState) -> list[ContentPart]:
    return [part(block.content) for block in facts.content if isinstance(block, ShownContent)]


def _result_parts(facts: ToolCallState) -> list[ContentPart] | None:
    shown = _shown_parts(facts)
    if shown:
        return shown
    told = facts.raw_output
    result = fields(fields(told).get("result"))
    listed = objects(result, "content") or (objects({"": told}, "") if isinstance(told, list) else [])
    found = [
        ContentPart(type="text", text=block["text"])
        if isinstance(block.get("text"), str)
        else ContentPart(type="image", media_type=text(block, "mimeType"), base64=text(block, "data"))
        if block.get("type") == "image"
        else ContentPart(type="unknown", raw=shallow(block))
        for block in listed
    ]
    if found:
        return found
    words = facts.result_text()
    return [ContentPart(type="text", text=words)] if words else None
