"""Read the requests of a program that uses Claude Code's SDKs: options and `initialize`. Pure.

Options that another agent cannot fulfil are refused by name, so that none silently has no effect. Options that do not
change an agent's work are skipped, such as log levels and Claude Code's setting sources.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct, field

from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.options import CommandOptions
from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.sidecar.streams.stdio.bridge import HINTS

PASSED_OVER = frozenset({
    "allow-dangerously-skip-permissions", "debug", "debug-to-stderr", "no-session-persistence", "print",
    "setting-sources", "strict-mcp-config", "verbose", "permission-prompt-tool", "input-format",
    "output-format",
})  # fmt: skip
"""Options that request nothing of an agent, or are handled elsewhere."""

TAKES_A_VALUE = frozenset({
    "add-dir", "agents", "allowedTools", "append-system-prompt", "betas", "disallowedTools", "effort",
    "fallback-model", "input-format", "json-schema", "max-budget-usd", "max-thinking-tokens", "max-turns",
    "mcp-config", "model", "output-format", "permission-mode", "permission-prompt-tool", "plugin-dir",
    "resume", "resume-drops-turn", "resume-session-at", "session-id", "setting-sources", "settings",
    "system-prompt", "system-prompt-file", "task-budget", "thinking", "thinking-display", "tools",
})  # fmt: skip
"""Options of Claude Code whose value can be a separate argument."""

SPELLINGS = {
    "p": "print",
    "c": "continue",
    "r": "resume",
    "allowed-tools": "allowedTools",
    "disallowed-tools": "disallowedTools",
}

OWN_MODES = ("default", "acceptEdits", "bypassPermissions", "dontAsk")
"""Permission modes that turnwire implements through its answers. Agents need not know them."""

PASSED_OVER_AT_INITIALIZE = HINTS | {"sdkMcpServerConfigs", "sdkMcpServerManifests", "subtype"}
"""Fields of `initialize` that request nothing of an agent, or that a server inside the caller reports itself."""

_PLAIN = re.compile(r"[A-Za-z_][\w.*-]*")
_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Wanted(Struct, frozen=True, kw_only=True):
    """The requests in a caller's command line."""

    command: CommandOptions = field(default_factory=CommandOptions)
    mode: str = "default"
    """The permission mode, in the caller's term."""
    asks: bool = False
    """Whether the caller answers can_use_tool."""
    partial: bool = False
    replays: bool = False
    allowed: frozenset[str] = frozenset()
    """Tools that need no permission, by Claude Code's names."""
    session_id: str | None = None
    """The requested session id."""
    sdk_servers: tuple[str, ...] = ()
    """Names of MCP servers inside the caller."""
    refused: tuple[str, ...] = ()
    """Requests that the agent cannot fulfil, each with a reason."""


class BadOption(TurnwireError):
    """An option has an invalid value."""


def wanted(argv: Sequence[str], can: Capabilities) -> Wanted:
    """Read the command line that an SDK gives a CLI. Raises BadOption."""
    reader = _Reader(can)
    for name, value in _pairs(argv):
        reader.read(name, value)
    return reader.wanted()


class Introduced(Struct, frozen=True, kw_only=True):
    """The requests in a caller's `initialize`."""

    changes: dict[str, Json] = {}
    """Fields of CommandOptions."""
    sdk_servers: frozenset[str] = frozenset()
    """MCP servers inside the caller. The TypeScript SDK names them only here."""
    refused: tuple[str, ...] = ()
    """Names of requests that the agent cannot fulfil."""


def introduced(body: JsonObject, can: Capabilities) -> Introduced:
    """Read `initialize`."""
    changes: dict[str, Json] = {}
    servers: frozenset[str] = frozenset()
    refused: list[str] = []
    for name, value in body.items():
        match name, value:
            case _ if not value or value == [""]:
                pass  # nothing is requested
            case "hooks", dict():
                refused += [f"hooks.{event}" for event, matchers in value.items() if matchers]
            case "sdkMcpServers", list() if can.mcp_servers:
                servers = frozenset(one for one in value if isinstance(one, str))
            case "systemPrompt", _ if "system_prompt" in can.options:
                changes["system_prompt"] = "\n\n".join(value) if isinstance(value, list) else value
            case "appendSystemPrompt", str() if "append_system_prompt" in can.options:
                changes["append_system_prompt"] = value
            case _ if name not in PASSED_OVER_AT_INITIALIZE:
                refused.append(name)
            case _:
                pass
    return Introduced(changes=changes, sdk_servers=servers, refused=tuple(refused))


def _pairs(argv: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the options with their values; None for one without."""
    rest = list(argv)
    while rest:
        given = rest.pop(0)
        if not given.startswith("-") or given == "-":
            yield given, None
            continue
        name, equals, value = given.lstrip("-").partition("=")
        name = SPELLINGS.get(name, name)
        if equals:
            yield name, value
        elif name in TAKES_A_VALUE and rest and not rest[0].startswith("-"):
            yield name, rest.pop(0)
        else:
            yield name, None


class _Reader:
    def __init__(self, can: Capabilities) -> None:
        self._can = can
        self._command: dict[str, Json] = {}
        self._rest: dict[str, Json] = {}
        self._refused: list[str] = []

    def wanted(self) -> Wanted:
        return Wanted(command=CommandOptions(**self._command), **self._rest, refused=tuple(self._refused))

    def read(self, name: str, value: str | None) -> None:
        match name:
            case "model" | "resume" if value:
                self._command[name] = value
            case "continue":
                self._if_possible("continue", possible=self._can.continues_latest, continue_latest=True)
            case "fork-session":
                self._if_possible("fork-session", possible=self._can.forks, fork=True)
            case "resume-session-at":
                self._if_possible(name, possible=self._can.resume_at != "nothing", resume_at=value)
            case "effort" | "system-prompt" | "append-system-prompt":
                option = name.replace("-", "_")
                if value:  # the SDKs pass an empty system prompt to request none
                    self._if_possible(name, possible=option in self._can.options, **{option: value})
            case "add-dir":
                folders = [*self._command.get("add_dirs", []), value or ""]
                self._if_possible(name, possible="add_dirs" in self._can.options, add_dirs=folders)
            case "mcp-config":
                self._servers(value or "")
            case "permission-mode":
                self._mode(value or "default")
            case "dangerously-skip-permissions":
                self._mode("bypassPermissions")
            case "permission-prompt-tool":
                self._rest["asks"] = value == "stdio"
                if value != "stdio":
                    self._refused.append(f"--{name} {value}: leave is asked for over this stream")
            case "include-partial-messages":
                self._rest["partial"] = True
            case "replay-user-messages":
                self._rest["replays"] = True
            case "allowedTools":
                self._allow(value or "")
            case "session-id":
                if value is None or not _ID.fullmatch(value):
                    raise BadOption(f"--session-id must be a UUID, not {value!r}")
                self._rest["session_id"] = value.lower()
            case "tools" if value == "default":
                pass
            case _ if name not in PASSED_OVER:
                self._refused.append(f"--{name}" if name else "--")
            case _:
                pass

    def _if_possible(self, name: str, *, possible: bool, **fields: Json) -> None:
        if possible:
            self._command.update(fields)
        else:
            self._refused.append(f"--{name}")

    def _mode(self, mode: str) -> None:
        self._rest["mode"] = mode
        if mode not in OWN_MODES:
            self._command["permission_mode"] = mode

    def _allow(self, tools: str) -> None:
        names = [name.strip() for name in re.split(r",(?![^(]*\))", tools) if name.strip()]
        for name in names:
            if not _PLAIN.fullmatch(name):
                self._refused.append(
                    f"--allowedTools {name}: write rules of calls into the configuration's `rules`"
                )
        self._rest["allowed"] = frozenset(names)

    def _servers(self, given: str) -> None:
        try:
            text = given if given.lstrip().startswith("{") else Path(given).read_text("utf-8-sig")
            servers = json.loads(text)["mcpServers"]
            named = {str(name): dict(server) for name, server in servers.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise BadOption(f"--mcp-config: {type(error).__name__}: {error}") from None
        if named and not self._can.mcp_servers:
            self._refused += [f"--mcp-config: the agent takes no MCP servers: {', '.join(named)}"]
        inside = [name for name, server in named.items() if server.get("type") == "sdk"]
        self._rest["sdk_servers"] = tuple(inside)
        self._command["mcp_servers"] = {name: one for name, one in named.items() if name not in inside}
