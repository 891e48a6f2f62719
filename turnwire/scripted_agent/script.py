"""The script format: what the scripted agent answers, turn by turn.

A script is a YAML or JSON object of the fields of `Script`. A step is an object with the key that names it, as in
`{text: "Hello"}` or `{tool: Bash, input: {command: ls}, result: "app.py"}`; its other keys are the fields of the
step's class below. `{prompt}` in any text, input or result stands for the prompt of the turn, and `{input.NAME}` in a
tool's result for what it was called with in the end.
"""

from typing import Literal, TypeAlias

from msgspec import Struct, field

from turnwire.protocol.json_values import Json, JsonObject

Version: TypeAlias = Literal["1.0.120", "2.0.14", "2.1.101", "2.1.330"]
Ignorable: TypeAlias = Literal["stdin_close", "sigterm", "interrupt"]


class Step(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do", tag=str.lower):
    """The base of every step."""


class Text(Step, frozen=True):
    """The assistant says something."""

    text: str
    """What it says; Markdown."""
    chunk: int = 12
    """Characters of each delta, where partial messages are on."""
    pace: float = 0.0
    """Seconds between two deltas."""


class Thinking(Step, frozen=True):
    """The assistant thinks."""

    thinking: str
    """What it thinks."""
    chunk: int = 12
    """Characters of each delta, where partial messages are on."""
    pace: float = 0.0
    """Seconds between two deltas."""


class Tool(Step, frozen=True):
    """The assistant calls a tool, which the agent pretends to run."""

    tool: str
    """The tool's name."""
    input: JsonObject = {}
    """Its input. An allow with `updatedInput` replaces it."""
    result: Json = ""
    """The content of its result: a string or a list of content blocks."""
    structured: Json = None
    """The structured data beside the result (`tool_use_result`); left out by versions that have none."""
    error: bool = False
    """Whether the result is an error."""
    permission: bool = False
    """Whether permission is asked first; not in bypassPermissions, nor once a rule allows it."""
    description: str = ""
    """What newer versions say of it beside the question."""
    blocked_path: str = ""
    """The path that made the question necessary."""
    suggestions: list[JsonObject] = []
    """The permission updates offered for "always"; without any, a rule for this input."""
    seconds: float = 0.0
    """How long it runs. Prompts that come meanwhile are folded into the turn, and an interrupt stops it."""
    until: str = ""
    """A file: it runs until that is there, however long that takes, by whatever clock."""
    steps: list["AnyStep"] = []
    """What a subagent does while the tool runs: its lines carry `parent_tool_use_id`."""
    on_deny: list["AnyStep"] = []
    """What follows a denial, after the error result."""
    acp: JsonObject = {}
    """Fields of an ACP agent's tool_call beside or instead of those made from the rest: kind, title, locations, content, _meta."""


class Parallel(Step, frozen=True):
    """Several calls in one message: all are announced, then each runs in order."""

    parallel: list[Tool]
    """The calls."""


class Ask(Step, frozen=True):
    """A question to the human through AskUserQuestion."""

    ask: list[JsonObject]
    """The questions: question, header, options [{label, description}], multiSelect."""


class Plan(Step, frozen=True):
    """A plan through ExitPlanMode; approval ends plan mode."""

    plan: str
    """The plan; Markdown."""
    on_deny: list["AnyStep"] = []
    """What follows a rejection."""


class Todos(Step, frozen=True):
    """The todo list through TodoWrite."""

    todos: list[JsonObject]
    """The whole list: content, status, activeForm."""


class Wait(Step, frozen=True):
    """Nothing happens for a while."""

    wait: float
    """Seconds."""
    until: str = ""
    """A file: nothing happens until that is there, however long that takes, by whatever clock."""


class Rate(Step, frozen=True, tag="rate_limit"):
    """A rate limit event."""

    rate_limit: JsonObject
    """status, resetsAt, rateLimitType, utilization."""


class Retry(Step, frozen=True, tag="api_retry"):
    """The API refused and is asked again."""

    api_retry: JsonObject
    """attempt, max_retries, retry_delay_ms, error_status, error."""


class System(Step, frozen=True):
    """Any other line of type `system`."""

    system: str
    """Its subtype."""
    fields: JsonObject = {}
    """Its other fields."""


class Compact(Step, frozen=True):
    """The conversation is compacted."""

    compact: Literal["auto", "manual"]
    """Why."""
    pre_tokens: int = 150_000
    """The size before."""


class Raw(Step, frozen=True):
    """A line that is not made by the protocol: garbage, half a line, an unknown type."""

    raw: Json
    """A string is written as it is, anything else as JSON."""
    newline: bool = True
    """Whether a newline ends it."""


class Huge(Step, frozen=True):
    """One text block of a great length, in one line."""

    huge: int
    """Its length in bytes."""


class Flood(Step, frozen=True):
    """Many text deltas, for measuring."""

    flood: int
    """How many."""
    rate: float = 0.0
    """How many each second; 0 is as fast as stdout takes them."""
    size: int = 40
    """Characters of each."""


class Request(Step, frozen=True):
    """Any control request to the host; the turn waits for its answer."""

    request: JsonObject
    """The request with its subtype: elicitation, mcp_message, …; for an ACP agent, with method and params."""


class Stderr(Step, frozen=True):
    """A line on stderr."""

    stderr: str
    """The line."""


class Fail(Step, frozen=True):
    """The turn ends here with an error result."""

    fail: str
    """The result's subtype: error_during_execution, error_max_turns, error_max_budget_usd."""
    errors: list[str] = []
    """What 2.1 says in `errors`."""


class ApiError(Step, frozen=True, tag="api_error"):
    """The turn ends as the CLI ends it when the API fails: a synthetic message, and `success` with is_error."""

    api_error: str
    """The typed error: authentication_failed, billing_error, rate_limit, server_error, …"""
    message: str
    """What the CLI prints."""
    status: int | None = None
    """The HTTP status."""


class End(Step, frozen=True):
    """The turn ends here, successfully: what follows a denial that stops everything."""

    end: Literal[True]


class Stop(Step, frozen=True):
    """The model stops here and the turn ends, without an error."""

    stop: Literal["max_tokens", "max_turn_requests", "refusal"]
    """Why, in ACP's words; the stream-json result says it as `stop_reason`."""


class Crash(Step, frozen=True):
    """The process ends in the middle of the turn."""

    crash: int | str
    """An exit code, or the name of the signal that kills it: SIGKILL."""
    last_words: str = ""
    """A line on stderr before it."""


class Hang(Step, frozen=True):
    """The turn never ends by itself; an interrupt ends it unless the script ignores interrupts."""

    hang: Literal[True]


AnyStep: TypeAlias = (
    Text
    | Thinking
    | Tool
    | Parallel
    | Ask
    | Plan
    | Todos
    | Wait
    | Rate
    | Retry
    | System
    | Compact
    | Raw
    | Huge
    | Flood
    | Request
    | Stderr
    | Fail
    | ApiError
    | End
    | Stop
    | Crash
    | Hang
)

STEP_KINDS = (
    "text", "thinking", "tool", "parallel", "ask", "plan", "todos", "wait", "rate_limit", "api_retry", "system",
    "compact", "raw", "huge", "flood", "request", "stderr", "fail", "api_error", "end", "stop", "crash", "hang",
)  # fmt: skip
"""The keys that name a step; each is a field of one class alone."""


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """What answers one prompt."""

    steps: list[AnyStep]
    """The steps, in order."""
    match: str | None = None
    """A regular expression: the turn answers each prompt that it finds something in, whatever its place."""


class Past(Struct, frozen=True, forbid_unknown_fields=True):
    """A turn of a session that was before this process."""

    prompt: str
    """What was asked."""
    steps: list[AnyStep]
    """What answered it: no permission is asked again, and nothing takes time."""


class Acp(Struct, frozen=True, forbid_unknown_fields=True):
    """How the agent behaves where ACP leaves it open, or where agents differ. Only spoken with `--family acp`."""

    login: Literal["none", "required"] = "none"
    """Whether sessions are refused (-32000) until `authenticate` is called."""
    auth_methods: list[JsonObject] = field(
        default_factory=lambda: [
            {"id": "scripted-login", "name": "Log in", "description": "Always succeeds (scripted)"}
        ]
    )
    """What `initialize` offers to log in with."""
    capabilities: JsonObject = {}
    """Fields of agentCapabilities instead of the usual ones; a method whose capability is null is unknown."""
    modes: list[JsonObject] = field(
        default_factory=lambda: [
            {"id": "default", "name": "Default", "description": "Asks before it acts"},
            {"id": "acceptEdits", "name": "Accept edits", "description": "Edits without asking"},
            {"id": "plan", "name": "Plan", "description": "Plans before it acts"},
            {"id": "bypassPermissions", "name": "Bypass permissions", "description": "Never asks"},
        ]
    )
    """The modes of a session; the first is current. Empty: the agent knows no modes."""
    config_options: list[JsonObject] = field(
        default_factory=lambda: [
            {
                "id": "model",
                "name": "Model",
                "category": "model",
                "type": "select",
                "currentValue": "scripted-agent",
                "options": [
                    {"value": "scripted-agent", "name": "Scripted agent"},
                    {"value": "scripted-agent-2", "name": "Scripted agent 2"},
                ],
            },
            {
                "id": "effort",
                "name": "Effort",
                "category": "thought_level",
                "type": "select",
                "currentValue": "medium",
                "options": [{"value": "low", "name": "Low"}, {"value": "medium", "name": "Medium"}],
            },
        ]
    )
    """The configuration options of a session, beside that of the modes."""
    permission_options: list[JsonObject] = field(
        default_factory=lambda: [
            {"optionId": "allow-once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
        ]
    )
    """What a permission can be answered with."""
    announces: bool = True
    """Whether a call that needs leave is told before it is asked for."""
    reject: Literal["goes_on", "ends_turn", "cancels_turn"] = "goes_on"
    """What follows a rejection."""
    call_at_cancel: Literal["failed", "completed", "open"] = "failed"
    """What becomes of a running call when the turn is cancelled."""
    second_prompt: Literal["queue", "refuse", "cancel_first"] = "queue"
    """What becomes of a prompt that comes while a turn runs."""
    replay: Literal["before_reply", "after_reply"] = "before_reply"
    """When `session/load` tells what was said."""
    history: list[Past] = []
    """What `session/load` replays of a session that this process has not seen."""
    usage: Literal["full", "reply", "none"] = "full"
    """Where usage is told: as updates and in the prompt's reply, in the reply alone, or nowhere."""
    message_ids: bool = True
    """Whether chunks carry a messageId."""
    subagents: Literal["hidden", "shown"] = "hidden"
    """Whether what a subagent does is told; shown, it carries `_meta.claudeCode.parentToolUseId`."""
    uses: list[Literal["fs", "terminal"]] = []
    """What is done through the client where it offers that: file tools by fs/*, Bash by terminal/*."""
    api_errors: Literal["error", "text"] = "error"
    """Whether a failing API fails the prompt, or is told as text with end_turn."""
    at_eof: Literal["exit", "finish"] = "exit"
    """Whether a running turn is dropped at the end of stdin, or played to its end."""


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole script."""

    turns: list[Turn] = []
    """The answers to the first, second, … prompt. Turns with `match` are not counted."""
    fallback: Turn | None = None
    """The answer to every further prompt; without it, the prompt is echoed."""
    version: Version = "2.1.330"
    """Whose shapes are spoken."""
    commands: list[JsonObject] = field(default_factory=list)
    """The slash commands that `initialize` and `init` tell: name, description, argumentHint."""
    ignore: list[Ignorable] = []
    """What the agent is deaf to."""
    start: list[AnyStep] = []
    """What happens before any input: usually a crash, stderr, or garbage."""
    resume: Literal["accept", "reject"] = "accept"
    """Whether --resume finds its session."""
    exit_code: int = 0
    """The code of a regular exit."""
    cost_per_turn: float = 0.0
    """Dollars that each turn adds to total_cost_usd. Nothing is spent; what counts costs needs something to count."""
    startup: float = 0.0
    """Seconds until the first input is read."""
    acp: Acp = field(default_factory=Acp)
    """How the agent behaves as one that speaks ACP."""
