"""One session of an ACP agent: its mode and options, what it may do, and what was said in it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from turnwire.protocol.json_values import Json, JsonObject
from turnwire.scripted_agent.acp.connection import INVALID_PARAMS, Connection, RpcError
from turnwire.scripted_agent.claude.answers import Answers
from turnwire.scripted_agent.claude.wire import WINDOW, Usage
from turnwire.scripted_agent.script import Script

MODE = "mode"
"""The id of the configuration option that is the mode."""


@dataclass
class Session:
    """A session."""

    id: str
    cwd: str
    script: Script
    connection: Connection
    new_id: Callable[[], str]
    client: JsonObject
    """The client's capabilities."""
    answers: Answers
    mode: str = ""
    options: list[JsonObject] = field(default_factory=list)
    """The configuration options but the mode, with their current values."""
    allowed: set[tuple[str, str]] = field(default_factory=set)
    """What was allowed permanently: tool, and its command where it has one."""
    said: list[JsonObject] = field(default_factory=list)
    """The updates of all turns, as `session/load` replays them."""
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    title: str | None = None
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the turn that runs."""
    running: asyncio.Task[None] | None = None
    """Whose turn it is."""
    cancelling: bool = False
    """Whether the running turn ends because the client wants that."""

    remembering: bool = False
    """Whether a turn is played for what was said in it alone: nothing is told to the client."""

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self.running is not None

    def update(self, kind: str, /, **fields: Json) -> None:
        """Tell the client something about the session."""
        self.tell({"sessionUpdate": kind, **fields})

    def say(self, kind: str, /, **fields: Json) -> None:
        """Tell the client something that belongs to the conversation."""
        self.said.append({"sessionUpdate": kind, **fields})
        self.tell(self.said[-1])

    def tell(self, update: JsonObject) -> None:
        """Write an update."""
        if not self.remembering:
            self.connection.notify("session/update", {"sessionId": self.id, "update": update})

    def tell_usage(self) -> None:
        """Say how full the window is, and what was spent."""
        if self.script.acp.usage == "full":
            used = min(WINDOW, self.usage.input_tokens + self.usage.output_tokens)
            cost = {"cost": {"amount": self.cost, "currency": "USD"}} if self.script.cost_per_turn else {}
            self.update("usage_update", used=used, size=WINDOW, **cost)

    def cancel(self) -> None:
        """End the running turn, if one runs."""
        if self.running is not None:
            self.cancelling = True
            self.running.cancel()

    def state(self) -> JsonObject:
        """What a session is opened with: modes and configuration options, where the script has any."""
        modes = self.script.acp.modes
        told: JsonObject = {}
        if modes:
            told["modes"] = {"currentModeId": self.mode, "availableModes": modes}
        if self.config():
            told["configOptions"] = self.config()
        return told

    def config(self) -> list[JsonObject]:
        """The configuration options, the mode first."""
        modes = self.script.acp.modes
        if not modes:
            return self.options
        choices = [
            {"value": mode["id"], **{key: mode[key] for key in ("name", "description") if key in mode}}
            for mode in modes
        ]
        mode = {
            "id": MODE,
            "name": "Mode",
            "category": "mode",
            "type": "select",
            "currentValue": self.mode,
            "options": choices,
        }
        return [mode, *self.options]

    def set_mode(self, mode: Json) -> None:
        """Change the mode; raises RpcError for one that there is not."""
        if mode not in [known["id"] for known in self.script.acp.modes]:
            raise RpcError(INVALID_PARAMS, "Invalid params", f"there is no mode {mode!r}")
        self.mode = mode

    def set_option(self, option_id: Json, value: Json) -> None:
        """Change a configuration option; raises RpcError for one, or a value, that there is not."""
        if option_id == MODE:
            self.set_mode(value)
            return
        for place, option in enumerate(self.options):
            if option["id"] != option_id:
                continue
            if option["type"] == "select" and value not in [choice["value"] for choice in option["options"]]:
                raise RpcError(INVALID_PARAMS, "Invalid params", f"{option_id} cannot be {value!r}")
            if option["type"] == "boolean" and not isinstance(value, bool):
                raise RpcError(
                    INVALID_PARAMS, "Invalid params", f"{option_id} is true or false, not {value!r}"
                )
            self.options[place] = {**option, "currentValue": value}
            return
        raise RpcError(INVALID_PARAMS, "Invalid params", f"there is no option {option_id!r}")

    def mode_changed(self, mode: str) -> None:
        """Change the mode by what the agent does itself, and say so."""
        if mode in [known["id"] for known in self.script.acp.modes] and mode != self.mode:
            self.mode = mode
            self.update("current_mode_update", currentModeId=mode)
            self.update("config_option_update", configOptions=self.config())
