"""Facts about the session: `init` repeats them every turn, and frontends get an event when they change."""

from collections.abc import Iterable
from typing import Literal

from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.events import (
    AgentEvent,
    AvailableCommands,
    Command,
    McpServerStatus,
    Model,
    SessionInfo,
    SessionMode,
    SessionStatus,
    SessionStatusData,
)
from turnwire.protocol.claude.system import Init
from turnwire.protocol.json_values import Json, text_at


class SessionFacts:
    """Remembers what was published about the session."""

    def __init__(self, place: EventContext, *, resumed: bool) -> None:
        """`resumed`: the first session id continues an earlier conversation."""
        self._place = place
        self._resumed = resumed
        self._known: str | None = None
        self._mode: str | None = None
        self._described: dict[str, Command] = {}
        self._names: list[str] = []
        self._listed_nowhere = False
        """The commands were published before the session had an id."""
        self._listed: list[Json] = []
        self._models: list[Model] | None = None
        self._facts: tuple[object, ...] = ()

    def changes(self, session_id: str | None) -> bool:
        """Tell whether this id is another one than the last."""
        return session_id is not None and self._known is not None and session_id != self._known

    def goes_on(self) -> None:
        """Another process will go on with the conversation, under the same id or (1.0) a new one."""
        self._resumed = True
        self._known = None

    def began(self, session_id: str | None, *, init: bool, resumed: bool | None = None) -> list[AgentEvent]:
        """Handle the session id of a system message. The first message of an id decides whether it is new: by its own fields, else
        by what is known.
        """
        if session_id is None or session_id == self._known:
            return []
        goes_on = self._resumed and self._known is None if resumed is None else resumed
        status: Literal["new", "resumed"] = "resumed" if goes_on else "new"
        self._known = session_id
        here = self._place.here
        return [
            SessionStatus(
                session_id=here["session_id"],
                operation_id=here["operation_id"],
                data=SessionStatusData(session_status=status, init=init or None),
            )
        ]

    def init(self, message: Init) -> list[AgentEvent]:
        """Publish what differs from the last `init`."""
        told = {"new": False, "resumed": True}.get(message.session_status or "")
        events = self.began(message.session_id, init=True, resumed=told)
        mode = message.permission_mode or message.permission_mode_snake
        facts = (
            message.model,
            message.cwd,
            message.version,
            message.tools,
            message.mcp_servers,
            message.agents,
            message.skills,
            message.output_style,
            message.api_key_source,
            mode,
            self._models,
        )
        if facts != self._facts:
            self._facts = facts
            events.append(self._info(message))
        names = message.slash_commands
        if names and (names != self._names or self._listed_nowhere):
            known = self._described
            events.append(self._commands([known.get(name) or Command(name=name) for name in names]))
        events += self.mode(mode)
        return events

    def mode(self, mode: str | None) -> list[AgentEvent]:
        """The permission mode is this one."""
        if not mode or mode == self._mode:
            return []
        self._mode = mode
        return [SessionMode(**self._place.here, current_mode_id=mode)]

    def models(self, entries: Iterable[Json]) -> None:
        """Store the CLI's list of models. The next `init` publishes it."""
        self._models = [
            Model(
                id=text_at(entry, "value"),
                name=text_at(entry, "displayName") or None,
                description=text_at(entry, "description") or None,
            )
            for entry in entries
            if text_at(entry, "value")
        ] or None

    def commands(self, entries: Iterable[Json]) -> list[AgentEvent]:
        """The CLI lists its commands, with descriptions."""
        listed = list(entries)
        if listed == self._listed:
            return []
        self._listed = listed
        commands = [
            Command(
                name=text_at(entry, "name"),
                description=text_at(entry, "description") or None,
                argument_hint=text_at(entry, "argumentHint") or None,
            )
            for entry in listed
            if text_at(entry, "name")
        ]
        self._described = {command.name: command for command in commands}
        return [self._commands(commands)]

    def _commands(self, commands: list[Command]) -> AvailableCommands:
        self._names = [command.name for command in commands]
        self._listed_nowhere = self._place.session_id is None
        return AvailableCommands(**self._place.here, available_commands=commands)

    def _info(self, message: Init) -> SessionInfo:
        return SessionInfo(
            **self._place.here,
            model=message.model,
            cwd=message.cwd,
            version=message.version,
            permission_mode=message.permission_mode or message.permission_mode_snake,
            tools=message.tools or None,
            mcp_servers=[
                McpServerStatus(name=server.name, status=server.status or None)
                for server in message.mcp_servers
            ]
            or None,
            agents=message.agents or None,
            skills=message.skills or None,
            output_style=message.output_style,
            api_key_source=message.api_key_source,
            models=self._models,
        )
