"""Limit what frontends may request beyond the configuration, in every session that they start or steer.

A frontend with the control token may make a session stricter than configured. It may make it looser only if a
setting allows that. The token is there to steer agents. A page or script that lost it must not become a way to
run any program in any folder. turnwire checks the session's whole record, again at each later start. Configured
values are the operator's and always allowed. All other values must be on a list, so new ones are refused until they
are listed.
"""

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from turnwire.adapter.process.environment import is_allowed
from turnwire.adapter.sandbox.settings import is_weaker
from turnwire.config.agents import sandbox_named
from turnwire.config.known_agents import KNOWN
from turnwire.config.settings import Settings
from turnwire.hub.host import CommandRefused
from turnwire.journal.sessions import SessionRecord
from turnwire.normalize.model import JsonObject
from turnwire.sessions.records.options import RecordOptions, asked_folder, sandbox_of

STRICTNESS = ("supervised", "cli", "plan", "autonomous")
"""Policies, the strictest first; `cli` is none, `plan` allows everything but the plan itself."""

MODES = frozenset({"default", "plan", "dontAsk", "acceptEdits"})
"""Permission modes that still ask about commands. `acceptEdits` allows no more than an "always" answer gives."""

FREE_OPTIONS = frozenset({
    "append_system_prompt", "checkpointing", "disallowed_tools", "effort", "fallback_model", "output_schema",
    "system_prompt",
})  # fmt: skip
"""Options of sessions that start nothing, reach nothing and permit nothing."""

BOUNDED_OPTIONS = frozenset({"max_budget_usd", "max_turns"})
"""Numbers that may be lowered."""

NARROWED_OPTIONS = frozenset({"setting_sources", "tools"})
"""Lists that may be shortened."""

SUBAGENT_FIELDS = frozenset(
    {"color", "description", "disallowedTools", "effort", "maxTurns", "model", "prompt", "tools"}
)
"""Members that a frontend's subagents may have. Subagents can also have hooks, MCP servers and a permission mode, which are
refused."""

CONTROLS = frozenset({
    "cancel_async_message", "generate_session_title", "get_context_usage", "interrupt", "mcp_reconnect",
    "mcp_status", "mcp_toggle", "rewind_files", "set_max_thinking_tokens", "set_model", "set_permission_mode",
    "status", "stop_task",
})  # fmt: skip
"""Control requests that are no way around: others run commands, read files, add directories or servers."""


class FrontendLimits:
    """Refuses what frontends may not request. Each refusal names the setting that would allow it."""

    def __init__(self, settings: Settings, start: Path) -> None:
        """`start`: the folder that turnwire was started in. Without a configuration, sessions may work in it and below."""
        self._settings = settings
        self._loosest = settings.frontend_policy or settings.policy or "cli"
        self._options: frozenset[str] = frozenset(settings.frontend_options)
        self._start = start.resolve()
        self._operators: list[Path] = []
        self.places: list[Path] | None = None
        """Folders that a principal is limited to; None: to no others than all are."""

    def within(self, places: Sequence[str]) -> "FrontendLimits":
        """Return the limits of a principal that may begin sessions only in these folders; in all that others may where there are none."""
        if not places:
            return self
        narrowed = copy.copy(self)
        narrowed.places = [Path(place).resolve() for place in places]
        return narrowed

    @property
    def policies(self) -> Sequence[str]:
        """The allowed policies, the strictest first."""
        return STRICTNESS[: STRICTNESS.index(self._loosest) + 1]

    @property
    def agents(self) -> Sequence[str]:
        """The allowed agents, the default one first."""
        configured = [self._settings.agent, *self._settings.agents]
        return list(dict.fromkeys([*configured, *KNOWN] if "agent" in self._options else configured))

    @property
    def workspaces(self) -> Sequence[Path]:
        """The directories that sessions may work in, and below."""
        roots = self._roots
        if self.places is None:
            return roots
        inner = [place for place in self.places if self._is_below(place, roots)]
        return [*inner, *(root for root in roots if self._is_below(root, self.places) and root not in inner)]

    @property
    def _roots(self) -> list[Path]:
        configured = self._settings.frontend_workspaces
        if configured is None:
            return [self._start, *self._operators]
        return [place.expanduser().resolve() for place in configured]

    def is_workspace(self, folder: Path) -> bool:
        """Tell whether a folder, given without links, may be worked in."""
        return self._is_below(folder, self.workspaces)

    def _is_below(self, folder: Path, roots: Sequence[Path]) -> bool:
        # a service is started in / without having meant the whole machine
        alone = Path("/") if self._settings.frontend_workspaces is None else None
        return any(folder == root or (root != alone and folder.is_relative_to(root)) for root in roots)

    def check_workspace(self, folder: str, field: str) -> None:
        """Refuse a folder that may not be worked in."""
        self._check_workspace(folder, field=field)

    def allow_workspace(self, folder: Path) -> None:
        """Allow frontends a folder in which the operator runs an agent."""
        if folder not in self._operators:
            self._operators.append(folder)

    def new(self, record: SessionRecord, env: Mapping[str, str]) -> SessionRecord:
        """Return the record of a session that a frontend requests, completed from the configuration. Raises CommandRefused."""
        for name in sorted(env):
            if not is_allowed(name, self._settings.frontend_env):
                _refuse(f"the variable {name!r} is not one that frontends may set", "frontend_env", "env")
        self._check_workspace(record.workspace or ".")
        if record.permission_mode is not None:
            self.check_mode(record.permission_mode, "permission_mode")
        return self._checked(record)

    def again(self, record: SessionRecord) -> SessionRecord:
        """Return the record with which a session may continue now. Raises CommandRefused.

        An earlier configuration accepted it. A permission mode set since then does not count.
        """
        workspace = asked_folder(record) or "."
        if self._settings.frontend_workspaces is not None or str(Path(workspace).resolve()) != workspace:
            self._check_workspace(workspace)
        mode = record.permission_mode
        kept = mode if mode in MODES or self._loosest == "autonomous" else None
        return self._checked(replace(record, permission_mode=kept))

    def check_folder(self, record: SessionRecord) -> None:
        """Refuse to read a session's workspace if sessions may not work in it, for example that of a conversation that is only
        read.
        """
        workspace = asked_folder(record) or "."
        reading = RecordOptions.from_record(record).reading
        if (
            reading
            or self._settings.frontend_workspaces is not None
            or str(Path(workspace).resolve()) != workspace
        ):
            self._check_workspace(workspace)

    def check_mode(self, mode: str, field: str) -> None:
        """Refuse a permission mode that asks no human."""
        if mode not in MODES and self._loosest != "autonomous":
            _refuse(
                f"the permission mode {mode!r} lets the agent act without asking, which the policy {self._loosest!r} "
                "does not let frontends choose",
                "frontend_policy",
                field,
            )

    def check_control(self, request: JsonObject) -> None:
        """Refuse a control request that could do what no other command may."""
        subtype = request.get("subtype")
        if "control" in self._options:
            return
        if subtype not in CONTROLS:
            _refuse(
                f"the control request {subtype!r} is not one that frontends may make",
                'frontend_options ("control")',
                "request",
            )
        if subtype == "set_permission_mode":
            self.check_mode(str(request.get("mode")), "request")

    def _checked(self, record: SessionRecord) -> SessionRecord:
        settings = self._settings
        policy = record.policy or "cli"
        if record.policy != settings.policy and policy not in self.policies:
            _refuse(
                f"the policy {policy!r} is looser than {self._loosest}, the loosest that frontends may ask for",
                "frontend_policy",
                "policy",
            )
        if record.agent in KNOWN and record.agent not in self.agents:
            # known without being configured: it would go around a configured one that shuts it in
            _refuse(
                f"the agent {record.agent!r} is none of the configured ones",
                'frontend_options ("agent")',
                "agent",
            )
        configured = sandbox_named(record.agent or settings.agent, settings.agents, settings.sandbox)
        floor = settings.sandbox_floor or configured
        if is_weaker(level := sandbox_of(record, settings), floor):
            _refuse(
                f"the sandbox {level!r} is weaker than {floor}, the weakest that frontends may ask for",
                "sandbox_floor",
                "sandbox",
            )
        asked = RecordOptions.from_record(record)
        if asked.mcp_servers != settings.mcp_servers and "mcp_servers" not in self._options:
            _refuse("frontends may not choose MCP servers", 'frontend_options ("mcp_servers")', "mcp_servers")
        options = self._checked_options(asked.agent_options, Path(record.workspace or "."))
        return replace(asked, agent_options=options).put(record)

    def _checked_options(self, asked: JsonObject, workspace: Path) -> JsonObject:
        configured = self._settings.session_options.model_dump(mode="json", exclude_none=True)
        options = dict(asked)
        for name, value in asked.items():
            own = configured.get(name)
            is_free = name in self._options and not (name == "add_dirs" and self.places is not None)
            if is_free or value == own:
                continue
            match name, value:
                case "disallowed_tools", list():
                    # what the operator forbids stays forbidden
                    options[name] = [*value, *(rule for rule in own or () if rule not in value)]
                case ("add_dirs", list(folders)) if folders:
                    options[name] = [self._folder(str(folder), workspace, own or ()) for folder in folders]
                case _:
                    if not _is_stricter(name, value, own):
                        _refuse(_sentence(name, own), f'frontend_options ("{name}")', f"options.{name}")
        return options

    def _folder(self, folder: str, workspace: Path, configured: Sequence[str]) -> str:
        if folder in configured:
            return folder
        resolved = (workspace / Path(folder).expanduser()).resolve()
        self._check_workspace(
            str(resolved), 'frontend_workspaces, or frontend_options ("add_dirs")', "options.add_dirs"
        )
        return str(resolved)

    def _check_workspace(
        self, folder: str, setting: str = "frontend_workspaces", field: str = "workspace"
    ) -> None:
        resolved = Path(folder).resolve()
        if not self.is_workspace(resolved):
            named = ", ".join(map(repr, map(str, self.workspaces))) or "nothing"
            who, where = "frontends", setting
            if self.places is not None:
                who, where = (
                    "you",
                    f"proxy_user_sessions or the scope of your token (in:/PATH), and {setting}",
                )
            _refuse(f"{str(resolved)!r} is not below {named}, where {who} may let agents work", where, field)


def _is_stricter(name: str, value: object, configured: object) -> bool:
    """Tell whether a value of an option permits no more than the configured one (None: none is)."""
    if name in FREE_OPTIONS:
        return True
    match name, value:
        case _, int() | float() if name in BOUNDED_OPTIONS:
            return not isinstance(configured, int | float) or value <= configured
        case _, list() if name in NARROWED_OPTIONS:
            return not isinstance(configured, list) or all(one in configured for one in value)
        case "allowed_tools" | "add_dirs" | "plugins", list():
            return all(one in configured for one in value) if isinstance(configured, list) else not value
        case "agents", dict():
            return all(isinstance(one, dict) and one.keys() <= SUBAGENT_FIELDS for one in value.values())
        case "settings", dict():
            return not value and not configured
        case _:
            return False


def _sentence(name: str, configured: object) -> str:
    if name in BOUNDED_OPTIONS:
        return f"{name} may be at most {configured}, as session_options has it"
    if name in NARROWED_OPTIONS:
        return f"{name} may have nothing that session_options has not"
    if name == "agents":
        return f"a frontend's agents may have {', '.join(sorted(SUBAGENT_FIELDS))} alone"
    return f"frontends may not choose {name}"


def _refuse(sentence: str, setting: str, field: str) -> NoReturn:
    raise CommandRefused(
        "not_allowed", f"{sentence}; the operator can allow it with the setting {setting}", field
    )
