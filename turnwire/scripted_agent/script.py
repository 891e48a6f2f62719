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
    """The assistant writes text."""

    text: str
    """The text, in Markdown."""
    chunk: int = 12
    """Characters of each delta, where partial messages are on."""
    pace: float = 0.0
    """Seconds between two deltas."""


class Thinking(Step, frozen=True):
    """The assistant thinks."""

    thinking: str
    """The text of the thinking block."""
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
    """Structured data beside the result (`tool_use_result`). Versions without it leave it out."""
    error: bool = False
    """Whether the result is an error."""
    permission: bool = False
    """Whether the agent asks for permission first. It does not ask in bypassPermissions, nor when a rule allows the call."""
    description: str = ""
    """A description that newer versions add to the permission request."""
    blocked_path: str = ""
    """The path that made the question necessary."""
    suggestions: list[JsonObject] = []
    """The permission updates offered for "always"; without any, a rule for this input."""
    seconds: float = 0.0
    """Seconds that the tool runs. Prompts that arrive meanwhile join the turn, and an interrupt stops the tool."""
    until: str = ""
    """A file. The tool runs until the file exists, without any time limit."""
    steps: list["AnyStep"] = []
    """Steps of a subagent while the tool runs. Their lines carry `parent_tool_use_id`."""
    on_deny: list["AnyStep"] = []
    """Steps after a denial, following the error result."""
    acp: JsonObject = {}
    """Fields of an ACP agent's tool_call that add to or replace the generated ones: kind, title, locations, content, _meta."""


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
    """Steps after a rejection."""


class Todos(Step, frozen=True):
    """The todo list through TodoWrite."""

    todos: list[JsonObject]
    """The whole list: content, status, activeForm."""


class Wait(Step, frozen=True):
    """Nothing happens for a while."""

    wait: float
    """Seconds."""
    until: str = ""
    """A file. The agent pauses until the file exists, without any time limit."""


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
    """A line outside the protocol: garbage, half a line, an unknown type."""

    raw: Json
    """A string is written unchanged, any other value as JSON."""
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
    """Deltas per second; 0 means as fast as stdout accepts them."""
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
    """The `errors` field of the result (2.1)."""


class ApiError(Step, frozen=True, tag="api_error"):
    """End the turn like a CLI whose API call failed: with a synthetic message, and a result `success` with is_error."""

    api_error: str
    """The typed error: authentication_failed, billing_error, rate_limit, server_error, …"""
    message: str
    """The text that the CLI prints."""
    status: int | None = None
    """The HTTP status."""


class End(Step, frozen=True):
    """End the turn successfully here. For example after a denial that stops everything."""

    end: Literal[True]


class Stop(Step, frozen=True):
    """The model stops here and the turn ends, without an error."""

    stop: Literal["max_tokens", "max_turn_requests", "refusal"]
    """ACP's stop reason. The stream-json result has it in `stop_reason`."""


class Crash(Step, frozen=True):
    """The process ends in the middle of the turn."""

    crash: int | str
    """An exit code, or the name of the signal that kills it: SIGKILL."""
    last_words: str = ""
    """A line on stderr before it."""


class Hang(Step, frozen=True):
    """The turn never ends on its own. An interrupt ends it, unless the script ignores interrupts."""

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
"""The keys that name a step. Each is a field of exactly one class."""


class Turn(Struct, frozen=True, forbid_unknown_fields=True):
    """The answer to one prompt."""

    steps: list[AnyStep]
    """The steps, in order."""
    match: str | None = None
    """A regular expression: the turn answers each prompt that it finds something in, whatever its place."""


class Past(Struct, frozen=True, forbid_unknown_fields=True):
    """A turn of a session that was before this process."""

    prompt: str
    """The prompt's text."""
    steps: list[AnyStep]
    """The steps that answered it. They are replayed without permission requests and without delay."""


class Acp(Struct, frozen=True, forbid_unknown_fields=True):
    """How the agent behaves where ACP leaves it open, or where agents differ. Only spoken with `--family acp`."""

    login: Literal["none", "required"] = "none"
    """Whether sessions are refused (-32000) until `authenticate` is called."""
    auth_methods: list[JsonObject] = field(
        default_factory=lambda: [
            {"id": "scripted-login", "name": "Log in", "description": "Always succeeds (scripted)"}
        ]
    )
    """The login methods that `initialize` offers."""
    capabilities: JsonObject = {}
    """Fields of agentCapabilities that replace the usual ones. A method whose capability is null is unknown."""
    modes: list[JsonObject] = field(
        default_factory=lambda: [
            {"id": "default", "name": "Default", "description": "Asks before it acts"},
            {"id": "acceptEdits", "name": "Accept edits", "description": "Edits without asking"},
            {"id": "plan", "name": "Plan", "description": "Plans before it acts"},
            {"id": "bypassPermissions", "name": "Bypass permissions", "description": "Never asks"},
        ]
    )
    """The modes of a session. The first is current. Empty: the agent has no modes."""
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
    """Configuration options of a session, in addition to the mode's."""
    permission_options: list[JsonObject] = field(
        default_factory=lambda: [
            {"optionId": "allow-once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
        ]
    )
    """The options of a permission request."""
    announces: bool = True
    """Whether a call that needs permission is announced before the request."""
    reject: Literal["goes_on", "ends_turn", "cancels_turn"] = "goes_on"
    """What a rejection does to the turn."""
    call_at_cancel: Literal["failed", "completed", "open"] = "failed"
    """Status of a running call when the turn is cancelled."""
    second_prompt: Literal["queue", "refuse", "cancel_first"] = "queue"
    """How the agent treats a prompt during a running turn."""
    replay: Literal["before_reply", "after_reply"] = "before_reply"
    """When `session/load` replays the conversation."""
    history: list[Past] = []
    """The conversation that `session/load` replays for a session of another process."""
    usage: Literal["full", "reply", "none"] = "full"
    """Where usage is reported: in updates and the prompt's reply, in the reply only, or nowhere."""
    message_ids: bool = True
    """Whether chunks carry a messageId."""
    subagents: Literal["hidden", "shown"] = "hidden"
    """Whether steps of a subagent are reported. If shown, they carry `_meta.claudeCode.parentToolUseId`."""
    uses: list[Literal["fs", "terminal"]] = []
    """What runs through the client, if it offers that: file tools by fs/*, Bash by terminal/*."""
    api_errors: Literal["error", "text"] = "error"
    """Whether an API failure fails the prompt, or is reported as text with end_turn."""
    at_eof: Literal["exit", "finish"] = "exit"
    """Whether a running turn is dropped at the end of stdin, or played to its end."""


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole script."""

    turns: list[Turn] = []
    """The answers to the first, second, … prompt. Turns with `match` are not counted."""
    fallback: Turn | None = None
    """The answer to every further prompt; without it, the prompt is echoed."""
    version: Version = "2.1.330"
    """The CLI version whose line shapes are written."""
    commands: list[JsonObject] = field(default_factory=list)
    """The slash commands that `initialize` and `init` tell: name, description, argumentHint."""
    ignore: list[Ignorable] = []
    """The inputs that the agent ignores."""
    start: list[AnyStep] = []
    """Steps before any input: usually a crash, stderr or garbage."""
    resume: Literal["accept", "reject"] = "accept"
    """Whether --resume finds its session."""
    exit_code: int = 0
    """The code of a regular exit."""
    cost_per_turn: float = 0.0
    """Dollars that each turn adds to total_cost_usd. Nothing is spent; tests of cost totals need a number."""
    startup: float = 0.0
    """Seconds until the first input is read."""
    acp: Acp = field(default_factory=Acp)
    """Behaviour as an ACP agent."""
