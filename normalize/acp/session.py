"""The state of one session of an agent: turn, texts, calls, requests, and the agent's facts about itself."""

from typing import Literal

from msgspec import Struct, field

from turnwire.normalize.acp.agents import Quirks
from turnwire.normalize.acp.requests import Requests
from turnwire.normalize.acp.usage import Usage
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.texts import Texts
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.normalize.events import (
    AgentEvent,
    AvailableCommands,
    Command,
    Mode,
    Model,
    OptionValue,
    SessionInfo,
    SessionMode,
    SessionOption,
    SessionOptions,
    SessionStatus,
    SessionStatusData,
)
from turnwire.normalize.payloads.fields import fields, objects, text, whole
from turnwire.normalize.tool_calls.open_calls import Calls
from turnwire.protocol.acp.messages import Id
from turnwire.protocol.json_values import Json, JsonObject

_MOST = 10_000
"""Entries of a list of commands, models or values that are published."""


class Prompt(Struct, gc=False):
    """A prompt that was sent and has no answer yet."""

    request_id: Id
    uuid: str | None
    text: str
    is_own: bool = False
    """The sidecar itself wrote it."""


class Turn(Struct, gc=False):
    """The open turn."""

    id: str
    origin: Literal["user", "queued", "background", "autonomous"]
    prompts: list[str]
    """UUIDs of the prompts it serves."""
    waiting: list[Id] = field(default_factory=list)
    """Requests whose responses end the turn. Empty if the prompt was not seen."""
    is_cancelled: bool = False
    """The turn was cancelled."""
    is_active: bool = False
    """Version 2: the agent reported that it works on the turn."""
    has_failed: bool = False
    """The agent reported a failure. Its following text is the reason."""
    has_output: bool = False
    """The agent has produced output in the turn."""
    said_error: str | None = None
    """The last text of an agent that reports failures as text."""


class Session:
    """One session."""

    def __init__(self, session_id: str, quirks: Quirks, call_ids: UniqueIds, message_ids: UniqueIds) -> None:
        self.place = EventContext()
        self.place.enter_session(session_id)
        self.id = session_id
        self.texts = Texts(self.place, message_ids)
        self.calls = Calls(self.place, call_ids)
        self.requests = Requests(self.place)
        self.usage = Usage(self.place)
        self.turn: Turn | None = None
        self.queue: list[Prompt] = []
        self.history: bool | None = None
        """True while the agent replays the past."""
        self.suppresses_replay = False
        """The past is already known, so replayed updates are not published."""
        self.is_loaded = False
        """The session continues an earlier conversation."""
        self.is_new = False
        """It was made while it was listened to, so there is no past to tell."""
        self.had_turns = False
        self.load_answered = False
        """For a session whose load was not seen: a response arrived that may answer the load."""
        self.cwd: str | None = None
        self.model: str | None = None
        self.mode: str | None = None
        self.echoes: list[str] = []
        """Prompts that we sent. Version 2 of the protocol echoes them."""
        self._status_told = False
        self._modes: list[Mode] | None = None
        self._modes_shown: list[Mode] | None = None
        self._models: list[Model] | None = None
        self._windows: dict[str, int] = {}
        """Tokens of models' context windows, of agents that tell them."""
        self._models_shown: list[Model] | None = None
        self._options: list[SessionOption] | None = None
        self._commands: list[Command] | None = None
        self._listed: list[Json] = []
        self._title: str | None = None
        self._facts: tuple[object, ...] | None = None
        self.adopt(quirks)

    def replays(self, *, is_known: bool) -> None:
        """Take the updates from here on for the past. is_known: it was published before."""
        self.history = self.is_loaded = True
        self.suppresses_replay = is_known

    def adopt(self, quirks: Quirks) -> None:
        """Apply an agent's quirks."""
        self.quirks = quirks
        self.calls.quirks = quirks
        self.usage.quirks = quirks

    def began(self, *, init: bool = False) -> list[AgentEvent]:
        """Publish once that the session exists."""
        if self._status_told:
            return []
        self._status_told = True
        data = SessionStatusData(
            session_status="resumed" if self.is_loaded or self.history else "new", init=init or None
        )
        return [SessionStatus(**self.place.here, data=data)]

    def process_over(self) -> None:
        """Another process will go on with it."""
        self._status_told = False
        self.is_loaded = True
        self.history = None
        self.load_answered = False
        self.queue.clear()
        self.echoes.clear()

    def opened(self, result: JsonObject, agent: JsonObject) -> list[AgentEvent]:
        """Handle the agent's answer to creating or loading the session, with the session's settings."""
        events = self.began(init=True)
        modes, models = fields(result.get("modes")), fields(result.get("models"))
        self._learn_modes(modes)
        self._learn_models(models)
        options = self._learn_options(result.get("configOptions"))
        mode = text(modes, "currentModeId") or self._current(options, "mode")
        model = text(models, "currentModelId") or self._current(options, "model")
        events += self.info(model=model, mode=mode, agent=agent)
        events += self.mode_is(mode)
        events += self._show_options(options or self._learn_effort(models))
        commands = result.get("availableCommands")
        return [*events, *(self.commands(commands) if isinstance(commands, list) else [])]

    def info(
        self, *, model: str | None = None, mode: str | None = None, agent: JsonObject | None = None
    ) -> list[AgentEvent]:
        """Publish the agent's facts about this session if they changed."""
        self.model = model or self.model
        self.usage.window = self._windows.get(self.model or "")
        info = fields(agent)
        facts = (self.model, self.cwd, text(info, "name"), text(info, "version"))
        models = self._models if self._models != self._models_shown else None
        if facts == self._facts and models is None:
            return []
        self._facts, self._models_shown = facts, self._models
        return [
            SessionInfo(
                **self.place.here,
                model=self.model,
                cwd=self.cwd,
                version=text(info, "version"),
                permission_mode=mode or self.mode,
                agent_name=text(info, "name"),
                agent_title=text(info, "title"),
                models=models,
            )
        ]

    def mode_is(self, mode: str | None) -> list[AgentEvent]:
        """The mode is this one."""
        modes = self._modes if self._modes != self._modes_shown else None
        if not mode or (mode == self.mode and modes is None):
            return []
        self.mode, self._modes_shown = mode, self._modes
        return [SessionMode(**self.place.here, current_mode_id=mode, available_modes=modes)]

    def options_are(self, value: Json, agent: JsonObject) -> list[AgentEvent]:
        """The options are these, all of them."""
        options = self._learn_options(value)
        if options is None:
            return []
        return [
            *self.info(model=self._current(options, "model"), agent=agent),
            *self.mode_is(self._current(options, "mode")),
            *self._show_options(options),
        ]

    def commands(self, listed: list[Json]) -> list[AgentEvent]:
        """The slash commands are these; some agents list them again and again."""
        if listed == self._listed:
            return []
        self._listed = listed
        commands = [
            Command(
                name=name,
                description=text(command, "description"),
                argument_hint=text(fields(command.get("input")), "hint"),
            )
            for command in objects({"": listed[:_MOST]}, "")
            if (name := text(command, "name"))
        ]
        if commands == self._commands or (not commands and self._commands is None):
            return []
        self._commands = commands
        return [AvailableCommands(**self.place.here, available_commands=commands)]

    def is_titled(self, title: str | None) -> bool:
        """Take a title. Returns whether it is a new one."""
        if not title or title == self._title:
            return False
        self._title = title
        return True

    def _learn_modes(self, modes: JsonObject) -> None:
        listed = objects(modes, "availableModes")[:_MOST]
        if listed:
            self._modes = [
                Mode(id=name, name=text(mode, "name"), description=text(mode, "description"))
                for mode in listed
                if (name := text(mode, "id"))
            ]

    def _learn_models(self, models: JsonObject) -> None:
        listed = objects(models, "availableModels")[:_MOST]
        if listed:
            self._windows = {
                text(model, "modelId") or "": size
                for model in listed
                if (size := whole(fields(model.get("_meta")), "totalContextTokens")) is not None
            }
            self._models = [
                Model(id=name, name=text(model, "name"), description=text(model, "description"))
                for model in listed
                if (name := text(model, "modelId", "id"))
            ]

    def _learn_effort(self, models: JsonObject) -> list[SessionOption] | None:
        """Return the option that Grok has for its efforts, of the model in use, where it names them."""
        current = text(models, "currentModelId")
        for model in objects(models, "availableModels")[:_MOST]:
            about = fields(model.get("_meta"))
            values = [value for one in objects(about, "reasoningEfforts") if (value := text(one, "value"))]
            if text(model, "modelId") == current and values:
                listed = [OptionValue(value=value, name=value) for value in values[:_MOST]]
                effort = text(about, "reasoningEffort")
                return [
                    SessionOption(
                        id="effort",
                        name="Effort",
                        category="thought_level",
                        kind="select",
                        current=effort,
                        values=listed,
                    )
                ]
        return None

    def _learn_options(self, value: Json) -> list[SessionOption] | None:
        if not isinstance(value, list):
            return None
        options = [_option(option) for option in objects({"": value[:_MOST]}, "")]
        modes, models = _chosen(options, "mode"), _chosen(options, "model")
        if self._modes is None and modes is not None and modes.values:
            self._modes = [
                Mode(id=one.value, name=one.name, description=one.description) for one in modes.values
            ]
        if self._models is None and models is not None and models.values:
            self._models = [
                Model(id=one.value, name=one.name, description=one.description) for one in models.values
            ]
        return options

    def _show_options(self, options: list[SessionOption] | None) -> list[AgentEvent]:
        if not options or options == self._options:
            return []
        self._options = options
        return [SessionOptions(**self.place.here, options=options)]

    def _current(self, options: list[SessionOption] | None, category: str) -> str | None:
        found = _chosen(options or [], category)
        return found.current if found is not None else None


def _chosen(options: list[SessionOption], category: str) -> SessionOption | None:
    """Return the option named as its category, or else the category's first. Nanocoder lists its provider among the models."""
    named = next((option for option in options if option.id == category), None)
    return named or next((option for option in options if option.category == category), None)


def _option(option: JsonObject) -> SessionOption:
    current = option.get("currentValue")
    return SessionOption(
        id=text(option, "id", "configId") or "",
        name=text(option, "name"),
        description=text(option, "description"),
        category=text(option, "category"),
        kind=text(option, "type"),
        current=str(current).lower()
        if isinstance(current, bool)
        else current
        if isinstance(current, str)
        else None,
        values=_values(objects(option, "options")) or None,
    )


def _values(listed: list[JsonObject], group: str | None = None) -> list[OptionValue]:
    found: list[OptionValue] = []
    for one in listed[:_MOST]:
        value = text(one, "value")
        if value is not None:
            found.append(
                OptionValue(
                    value=value, name=text(one, "name"), description=text(one, "description"), group=group
                )
            )
        elif group is None:
            found += _values(objects(one, "options"), text(one, "name", "group") or "")
    return found
