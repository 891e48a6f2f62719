"""What callers of the official SDKs do and what may happen to them, as data: both SDKs play each of these."""

from dataclasses import dataclass, field
from typing import Any

JSON = dict[str, Any]
Step = tuple[str, Any]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass(frozen=True)
class Scenario:
    """One of them. What is an object goes over to the SDK as it stands."""

    name: str
    turns: list[list[Step]] = field(default_factory=list)
    """What the CLI does for each prompt."""
    prompt: Any = "go"
    """A text, or a list of the contents of streamed prompts."""
    options: JSON = field(default_factory=dict)
    """By their Python names."""
    actions: list[Step] = field(default_factory=list)
    """What the caller does in a session of its own; without them it is one query."""
    tool: JSON | None = None
    """What `can_use_tool` answers: behavior, updated_input, message, interrupt; or `raises`."""
    hooks: dict[str, Any] = field(default_factory=dict)
    """By event: what the hook returns; a text is raised."""
    mcp: bool = False
    """A server in the SDK with the tools `add` and `fail`."""
    controls: dict[str, Any] = field(default_factory=dict)
    """By subtype: what the CLI answers; a text is an error, `never` is none."""
    dies: dict[str, int] = field(default_factory=dict)
    """By subtype: the exit code, or a signal's negative number, behind such a request."""
    before: list[Step] = field(default_factory=list)
    """What the CLI does before it reads anything."""
    at_eof: int = 0
    sdks: tuple[str, ...] = ("python", "typescript")
    sorted: bool = False
    """What goes on side by side has no order."""


def init(**more: Any) -> Step:
    return "say", {
        "type": "system", "subtype": "init", "session_id": "s", "uuid": "i", "cwd": "/w", "tools": ["Bash"], "mcp_servers": [],
        "model": "m", "permissionMode": "default", "slash_commands": [], "apiKeySource": "none", "claude_code_version": "2.1.330",
        "output_style": "default", "skills": [], "plugins": [], **more,
    }  # fmt: skip


def said(*content: JSON, **more: Any) -> Step:
    message = {
        "id": "m1", "type": "message", "role": "assistant", "model": "m", "content": list(content), "stop_reason": None,
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip
    return "say", {
        "type": "assistant", "message": message, "session_id": "s", "uuid": "a", "parent_tool_use_id": None, **more
    }  # fmt: skip


def text(words: str) -> JSON:
    return {"type": "text", "text": words}


def user(*content: JSON, **more: Any) -> Step:
    return "say", {
        "type": "user", "message": {"role": "user", "content": list(content)}, "session_id": "s", "uuid": "u",
        "parent_tool_use_id": None, **more,
    }  # fmt: skip


def result(subtype: str = "success", **more: Any) -> Step:
    told = {"result": "done"} if subtype == "success" else {"errors": ["no"]}
    return "say", {
        "type": "result", "subtype": subtype, "is_error": subtype != "success", "duration_ms": 1, "duration_api_ms": 1,
        "num_turns": 1, "session_id": "s", "uuid": "r", "total_cost_usd": 0.5, "usage": {"input_tokens": 1, "output_tokens": 2},
        "modelUsage": {}, "permission_denials": [], "stop_reason": "end_turn", **told, **more,
    }  # fmt: skip


def streamed(event: JSON) -> Step:
    return "say", {
        "type": "stream_event", "event": event, "session_id": "s", "uuid": "e", "parent_tool_use_id": None
    }  # fmt: skip


def system(subtype: str, **more: Any) -> Step:
    return "say", {"type": "system", "subtype": subtype, "session_id": "s", "uuid": "y", **more}


def asks(name: str = "p1", tool: str = "Bash", **arguments: Any) -> Step:
    request = {
        "subtype": "can_use_tool", "tool_name": tool, "input": arguments or {"command": "ls"}, "tool_use_id": "t1",
        "permission_suggestions": [
            {"type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "ls:*"}], "behavior": "allow",
             "destination": "session"}
        ],
    }  # fmt: skip
    return "ask", {"id": name, "request": request}


def calls_hook(event: str, name: str = "h1", callback: str = "hook_0", **more: Any) -> Step:
    told = {
        "hook_event_name": event, "session_id": "s", "transcript_path": "/t", "cwd": "/w", "permission_mode": "default",
        **more,
    }  # fmt: skip
    request = {"subtype": "hook_callback", "callback_id": callback, "input": told, "tool_use_id": "t1"}
    return "ask", {"id": name, "request": request}


def calls_server(method: str, key: str, /, server: str = "sums", number: int = 1, **params: Any) -> Step:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return "ask", {
        "id": key,
        "request": {"subtype": "mcp_message", "server_name": server, "message": message},
    }


OPENING: JSON = {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "2.1.330"}
}  # fmt: skip

ONE: list[list[Step]] = [[init(), said(text("hello")), result()]]
"""A turn like most."""


def answered(name: str, *steps: Step, **more: Any) -> Scenario:
    """A query during whose only turn something happens."""
    return Scenario(name, [[init(), *steps, result()]], **more)


def asking(name: str, *steps: Step, tool: JSON | None, **more: Any) -> Scenario:
    """Streamed input, as `can_use_tool` wants it."""
    return Scenario(name, [[init(), *steps, result()]], prompt=["go"], tool=tool, **more)


PROMPTS = [
    Scenario("a prompt as text", ONE),
    Scenario("a prompt as a stream of one", ONE, prompt=["go"]),
    Scenario("prompts as a stream of three", [*ONE, *ONE, *ONE], prompt=["one", "two", "three"]),
    Scenario("no prompt in the stream", [], prompt=[]),
    Scenario("an empty prompt", ONE, prompt=""),
    Scenario("a prompt of blocks", ONE, prompt=[[text("look"), text("here")]]),
    Scenario(
        "a prompt with an image", ONE,
        prompt=[[{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}, text("what?")]],
    ),
    Scenario("a prompt with odd characters", ONE, prompt="é 日本 👩\u200d💻 \u2028 \u0085 \" \\ \t \x7f"),
    Scenario("a prompt of lines", ONE, prompt="one\ntwo\r\nthree\n\n"),
    Scenario("a prompt of 300 kB", ONE, prompt=["long " * 60_000]),
    Scenario("a slash command", ONE, prompt="/compact keep it short"),
    Scenario("a prompt that looks like an option", ONE, prompt="--help"),
]  # fmt: skip

OPTIONS = [
    Scenario(f"option {name}", ONE, options={name: value}, sdks=sdks)
    for name, value, sdks in [
        ("model", "opus", ("python", "typescript")),
        ("fallback_model", "haiku", ("python", "typescript")),
        ("system_prompt", "Be brief.\n\"Really\" 'so'.", ("python", "typescript")),
        ("allowed_tools", ["Read", "Bash(git log:*)"], ("python", "typescript")),
        ("disallowed_tools", ["WebFetch", "Bash(rm:*)"], ("python", "typescript")),
        ("max_turns", 3, ("python", "typescript")),
        ("permission_mode", "acceptEdits", ("python", "typescript")),
        ("resume", "0fb6bd65-0001-4c3e-9831-e2d6fafda130", ("python", "typescript")),
        ("continue_conversation", True, ("python",)),
        ("add_dirs", ["/usr", "/etc"], ("python",)),
        ("max_thinking_tokens", 2048, ("python", "typescript")),
        ("max_budget_usd", 1.5, ("python", "typescript")),
        ("settings", '{"env": {"A": "b c"}}', ("python",)),
        ("setting_sources", ["user", "project"], ("python", "typescript")),
        ("extra_args", {"debug-to-stderr": None, "name": "a 'b' c"}, ("python", "typescript")),
        ("env", {"SCENARIO": "of 'ours'\nand two lines"}, ("python", "typescript")),
        ("betas", ["context-1m-2025-08-07"], ("python", "typescript")),
        ("include_partial_messages", True, ("python", "typescript")),
        ("effort", "low", ("python", "typescript")),
        ("output_format", {"type": "json_schema", "schema": {"type": "object"}}, ("python", "typescript")),
        ("agents", {"looker": {"description": "d", "prompt": "p", "tools": ["Read"]}}, ("python", "typescript")),
        ("mcp_servers", {"x": {"type": "stdio", "command": "true", "args": ["a b"]}}, ("python", "typescript")),
        ("fork_session", True, ("python", "typescript")),
        ("strict_mcp_config", True, ("python", "typescript")),
    ]
]  # fmt: skip

DELTAS = [
    streamed({"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": [], "usage": {}}}),
    streamed({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    *(streamed({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}}) for word in "ab"),
    streamed({"type": "content_block_stop", "index": 0}),
    streamed({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
    streamed({"type": "message_stop"}),
]  # fmt: skip

USE = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
GAVE = {"type": "tool_result", "tool_use_id": "t1", "content": "a\nb", "is_error": False}

MESSAGES = [
    answered("pieces of a text", *DELTAS, said(text("ab")), options={"include_partial_messages": True}),
    answered("a thought", said({"type": "thinking", "thinking": "hm", "signature": "sig"}), said(text("so"))),
    answered("a call and its result", said(USE), user(GAVE, tool_use_result={"stdout": "a"}), said(text("so"))),
    answered("a call that failed", said(USE), user({**GAVE, "is_error": True, "content": [text("no")]})),
    answered("a subagent's lines", said(USE), said(text("in it"), parent_tool_use_id="t1"), user(GAVE)),
    answered("a server's tool", said({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})),
    answered("a kind of block that is new", said({"type": "brand_new", "value": 1})),
    answered("a kind of line that is new", ("say", {"type": "brand_new", "session_id": "s"}), said(text("so"))),
    answered("a system line that is new", system("brand_new", value=[1, None])),
    answered("a compaction", system("compact_boundary", compact_metadata={"trigger": "auto", "pre_tokens": 9})),
    answered("a status", system("status", status="compacting"), system("status", status=None)),
    answered("a retry of the API", system("api_retry", attempt=1, max_retries=3, retry_delay_ms=5, error_status=529)),
    answered("a task", system("task_started", task_id="k", description="d"), system("task_progress", task_id="k")),
    answered("a limit", ("say", {"type": "rate_limit_event", "rate_limit_info": {"status": "allowed"}, "uuid": "l", "session_id": "s"})),
    answered("a prompt played back", user(text("go"), isReplay=True)),
    answered("progress of a tool", ("say", {"type": "tool_progress", "tool_use_id": "t1", "tool_name": "Bash", "elapsed_time_seconds": 1, "session_id": "s", "uuid": "g", "parent_tool_use_id": None})),
    answered("a sign of life", ("say", {"type": "keep_alive"}), said(text("so"))),
    answered("an error of the API", said(text("no"), error="rate_limit", isApiErrorMessage=True)),
    Scenario("too many rounds", [[init(), result("error_max_turns")]]),
    Scenario("an error in a turn", [[init(), result("error_during_execution")]]),
    Scenario("too dear", [[init(), result("error_max_budget_usd")]]),
    Scenario("a success that is an error", [[init(), result(is_error=True, result="Invalid API key")]]),
    Scenario("a structured answer", [[init(), result(structured_output={"a": [1]})]]),
    Scenario("numbers as they are written", [[init(), ("raw", '{"type":"system","subtype":"n","session_id":"s","uuid":"u","a":1e2,"b":1.0,"c":12345678901234567890}\n'), result()]]),
    Scenario("no answer but a result", [[result()]]),
    Scenario("two results", [[init(), result(), result()], [result()]], prompt=["a", "b"]),
]  # fmt: skip

LINES = [
    answered("a thousand lines", ("many", 1000)),
    answered("a line of 900 kB", ("long", 900_000)),
    answered("a line of 5 MB", ("long", 5_000_000)),
    answered("a line of 5 MB where that is allowed", ("long", 5_000_000), options={"max_buffer_size": 10_000_000}, sdks=("python",)),
    answered("a line in pieces", ("pieces", ['{"type":"sys', 'tem","subtype":"x",', '"session_id":"s","uuid":"u"}', "\n"])),
    answered("two lines in one write", ("raw", '{"type":"system","subtype":"x"}\n{"type":"system","subtype":"y"}\n')),
    answered("two objects on one line", ("raw", '{"type":"system","subtype":"x"}{"type":"system","subtype":"y"}\n')),
    answered("blank lines", ("raw", "\n\n   \n\t\n")),
    answered("carriage returns", ("raw", '{"type":"system","subtype":"x"}\r\n\r\n')),
    answered("garbage", ("raw", "what?\n"), said(text("so"))),
    answered("a warning on stdout", ("raw", "[WARN] something\n"), said(text("so"))),
    answered("half an object on a line of its own", ("raw", '{"type":"system","sub\n'), said(text("so"))),
    answered("a list", ("raw", '[{"type":"system"}]\n'), said(text("so"))),
    answered("a number", ("raw", "42\n"), said(text("so"))),
    answered("null", ("raw", "null\n"), said(text("so"))),
    answered("an object without a type", ("raw", "{}\n"), said(text("so"))),
    answered("a byte order mark", ("bytes", b'\xef\xbb\xbf{"type":"system","subtype":"x"}\n'.hex()), said(text("so"))),
    answered("a zero byte", ("bytes", b'{"type":"system","subtype":"a\x00b"}\n'.hex()), said(text("so"))),
    answered("escaped halves of a character", ("raw", '{"type":"system","subtype":"\\ud83d"}\n'), said(text("so"))),
    answered("separators of lines within a line", ("raw", '{"type":"system","subtype":"a\u2028b\u2029c\u0085d"}\n')),
    answered("stderr beside it", ("stderr", "one\ntwo\n"), said(text("so")), ("stderr", "three\n")),
    answered("stderr without an end", ("stderr", "no newline")),
]  # fmt: skip

ALLOW = {"behavior": "allow"}

PERMISSIONS = [
    # behind an answer, so that the lines before it have been read by then
    asking("bytes that are no UTF-8", asks(), ("heard", "p1"), ("bytes", b'{"type":"system","subtype":"\xff\xfe"}\n'.hex()), tool=ALLOW),
    asking("allowed", asks(), ("answer", "p1"), tool=ALLOW),
    asking("allowed with another input", asks(), ("answer", "p1"), tool={**ALLOW, "updated_input": {"command": "pwd"}}),
    asking("allowed for ever", asks(), ("answer", "p1"), tool={**ALLOW, "remember": True}),
    asking("denied", asks(), ("answer", "p1"), tool={"behavior": "deny", "message": "not here"}),
    asking("denied and stopped", asks(), ("answer", "p1"), tool={"behavior": "deny", "message": "no", "interrupt": True}),
    asking("asked of a callback that fails", asks(), ("answer", "p1"), tool={"raises": "broken"}),
    asking("asked where nobody answers", asks(), ("answer", "p1"), tool=None),
    asking("asked twice", asks(), ("answer", "p1"), asks("p2", command="pwd"), ("answer", "p2"), tool=ALLOW),
    asking("asked twice at once", asks(), asks("p2", command="pwd"), ("answer", "p1"), ("answer", "p2"), tool=ALLOW, sorted=True),
    asking("a question", asks("p1", "AskUserQuestion", questions=[{"question": "Which?", "options": []}]), ("answer", "p1"), tool={**ALLOW, "updated_input": {"answers": {"Which?": "this"}}}),
    asking("a plan", asks("p1", "ExitPlanMode", plan="# Do"), ("answer", "p1"), tool=ALLOW),
    asking("odd characters in what is asked", asks(command="é\u2028\u0085 '\" \\n"), ("answer", "p1"), tool=ALLOW),
    asking("a request that nobody knows", ("ask", {"id": "p1", "request": {"subtype": "brand_new"}}), ("answer", "p1"), tool=ALLOW),
    asking("death behind a question", asks(), ("answer", "p1"), ("end", 9), tool=ALLOW),
    asking("a cancelled request that nobody made", ("cancel", "p9"), said(text("so")), tool=ALLOW),
]  # fmt: skip

DENIES = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"
    }
}  # fmt: skip

HOOK_CASES: list[tuple[str, str, JSON, Any]] = [
    ("that denies", "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": "ls"}}, DENIES),
    ("that allows", "PreToolUse", {"tool_name": "Bash", "tool_input": {}}, {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"command": "pwd"}}}),
    ("that says nothing", "PreToolUse", {"tool_name": "Bash", "tool_input": {}}, {}),
    ("behind a call", "PostToolUse", {"tool_name": "Bash", "tool_input": {}, "tool_response": "x"}, {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "more"}}),
    ("of a prompt", "UserPromptSubmit", {"prompt": "go"}, {"decision": "block", "reason": "not now"}),
    ("of a stop", "Stop", {"stop_hook_active": False}, {"continue": False, "stopReason": "enough"}),
    ("of a subagent's stop", "SubagentStop", {"stop_hook_active": False}, {"systemMessage": "seen"}),
    ("before a compaction", "PreCompact", {"trigger": "manual", "custom_instructions": None}, {}),
    ("that fails", "PreToolUse", {"tool_name": "Bash", "tool_input": {}}, "broken"),
]  # fmt: skip

HOOKS = [
    Scenario(f"hook {name}", [[init(), calls_hook(event, **told), ("answer", "h1"), result()]], prompt=["go"], hooks={event: output})
    for name, event, told, output in HOOK_CASES
] + [
    Scenario("hook that nobody registered", [[init(), calls_hook("PreToolUse", callback="hook_77"), ("answer", "h1"), result()]], prompt=["go"], hooks={"PreToolUse": {}}),
]  # fmt: skip

SERVERS = [
    Scenario(f"server {name}", [[init(), calls_server("initialize", "o", number=0, **OPENING), ("answer", "o"), *steps, result()]], prompt=["go"], mcp=True)
    for name, steps in [
        ("that is opened", ()),
        ("whose tools are listed", (calls_server("tools/list", "l"), ("answer", "l"))),
        ("whose tool is called", (calls_server("tools/call", "c", name="add", arguments={"a": 1, "b": 2}), ("answer", "c"))),
        ("whose tool fails", (calls_server("tools/call", "c", name="fail", arguments={}), ("answer", "c"))),
        ("without such a tool", (calls_server("tools/call", "c", name="nope", arguments={}), ("answer", "c"))),
        ("without such a method", (calls_server("brand/new", "c"), ("answer", "c"))),
        ("that there is not", (calls_server("tools/list", "c", server="nope"), ("answer", "c"))),
    ]
]  # fmt: skip

SESSION = [("say", "one"), ("result", None)]

SESSIONS = [
    Scenario("a session of two turns", [*ONE, *ONE], actions=[*SESSION, *SESSION]),
    Scenario("what the CLI says of itself", ONE, controls={"initialize": {"commands": [{"name": "x", "description": "d", "argumentHint": ""}], "models": []}}, actions=[("info", None), *SESSION]),
    Scenario("an interrupt", [[init(), said(text("long")), ("told", "interrupt"), result("error_during_execution")], *ONE], actions=[("say", "one"), ("take", 2), ("interrupt", None), ("result", None), *SESSION]),
    Scenario("an interrupt of nothing", ONE, actions=[*SESSION, ("interrupt", None)]),
    Scenario("an interrupt that is refused", [[init(), ("told", "interrupt"), result()]], controls={"interrupt": "not now"}, actions=[("say", "one"), ("take", 1), ("interrupt", None), ("result", None)]),
    Scenario("another model", [*ONE, *ONE], actions=[*SESSION, ("set_model", "haiku"), *SESSION]),
    Scenario("the model of before", ONE, actions=[("set_model", None), *SESSION]),
    Scenario("another mode", [*ONE, *ONE], actions=[*SESSION, ("set_permission_mode", "plan"), *SESSION]),
    Scenario("another mode that is refused", ONE, controls={"set_permission_mode": "no such mode"}, actions=[("set_permission_mode", "plan"), *SESSION]),
    Scenario("servers are asked for", ONE, controls={"mcp_status": {"mcpServers": [{"name": "x", "status": "connected"}]}}, actions=[*SESSION, ("servers", None)]),
    Scenario("files are put back", ONE, controls={"rewind_files": {"canRewind": True, "filesChanged": ["a"]}}, options={"enable_file_checkpointing": True}, actions=[*SESSION, ("rewind", "u")]),
    Scenario("a task is stopped", ONE, actions=[*SESSION, ("stop_task", "k")]),
    Scenario("left in the middle", [[init(), said(text("long")), ("eof", None)]], actions=[("say", "one"), ("take", 2)]),
    Scenario("an image in a session", ONE, actions=[("say", [text("look"), {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}]), ("result", None)]),
    Scenario("said while it works", [[init(), said(text("a")), result()], [said(text("b")), result()]], actions=[("say", "one"), ("say", "two"), ("result", None), ("result", None)]),
    Scenario("the CLI dies behind an interrupt", [[init(), ("told", "interrupt"), ("end", 5)]], actions=[("say", "one"), ("take", 1), ("interrupt", None), ("result", None)]),
]  # fmt: skip

HALF = ("raw", '{"type":"assistant","message":{"cont')

DEATHS = [
    *(Scenario(f"exit {code} in a turn", [[init(), ("end", code)]], prompt=["go"]) for code in (0, 1, 2, 7, 127, 130, 137, 143, 255)),
    *(Scenario(f"signal {number} in a turn", [[init(), ("end", -number)]], prompt=["go"]) for number in (1, 2, 3, 6, 8, 9, 11, 13, 15)),
    *(Scenario(f"exit {code} in mid-line", [[init(), HALF, ("end", code)]], prompt=["go"]) for code in (0, 7)),
    *(Scenario(f"signal {number} in mid-line", [[init(), HALF, ("end", -number)]], prompt=["go"]) for number in (9, 11, 15)),
    Scenario("exit 1 behind the result", [[init(), result(), ("end", 1)]], prompt=["go"]),
    Scenario("exit 1 at the end of the input", ONE, at_eof=1),
    Scenario("last words", [[init(), ("stderr", "out of\nmemory\n"), ("end", 3)]], prompt=["go"]),
    Scenario("many last words", [[init(), ("stderr", "x" * 80 + "\n"), ("stderr", "y" * 200_000 + "\n"), ("end", 3)]], prompt=["go"]),
    Scenario("no newline at the end", [[init(), ("raw", '{"type":"system","subtype":"last","session_id":"s","uuid":"u"}'), ("end", 0)]], prompt=["go"]),
    Scenario("a result without a newline", [[init(), ("raw", '{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"session_id":"s","uuid":"r","result":"x"}'), ("end", 0)]], prompt=["go"]),
    Scenario("garbage without a newline", [[init(), ("raw", "Segmentation"), ("end", 1)]], prompt=["go"]),
    Scenario("death at the introduction", dies={"initialize": 4}, prompt=["go"]),
    Scenario("a signal at the introduction", dies={"initialize": -9}, prompt=["go"]),
    Scenario("an introduction that is refused", ONE, controls={"initialize": "too old"}, prompt=["go"]),
    Scenario("death before anything", before=[("stderr", "no login\n"), ("end", 1)], prompt=["go"]),
    Scenario("death before anything, by a signal", before=[("end", -6)], prompt=["go"]),
    Scenario("words before anything", ONE, before=[("raw", "Welcome!\n")], prompt=["go"]),
    Scenario("stdout closed in a turn", [[init(), ("close", None), ("eof", None)]], prompt=["go"]),
]  # fmt: skip

SCENARIOS = [
    *PROMPTS, *OPTIONS, *MESSAGES, *LINES, *PERMISSIONS, *HOOKS, *SERVERS, *SESSIONS, *DEATHS
]  # fmt: skip
