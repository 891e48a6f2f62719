"""One session of an ACP agent: its mode and options, its permissions, and its conversation."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from turnwire.protocol.json_values import Json, JsonObject
from turnwire.scripted_agent.acp.connection import INVALID_PARAMS, Connection, RpcError
from turnwire.scripted_agent.claude.answers import Answers
from turnwire.scripted_agent.claude.written_lines import WINDOW, Usage
from turnwire.scripted_agent.script import Script

MODE = "mode"
"""Id of the configuration option for the mode."""


@dataclass
class AcpSession:
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
    """What is allowed permanently: (tool, command), with an empty command for a tool without one."""
    said: list[JsonObject] = field(default_factory=list)
    """The updates of all turns, as `session/load` replays them."""
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    title: str | None = None
    turns: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by the turn that runs."""
    running: asyncio.Task[None] | None = None
    """The task of the running turn."""
    cancelling: bool = False
    """True while the running turn ends because the client cancelled it."""

    remembering: bool = False
    """True while a past turn is played only to rebuild the conversation. The client is sent nothing."""

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
        """Send how full the context window is and what the session has cost."""
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
        """Return what opening a session answers: modes and configuration options, if the script has any."""
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
        """Change the mode. Raises RpcError for an unknown mode."""
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
        """Change the mode on the agent's own initiative and notify the client."""
        if mode in [known["id"] for known in self.script.acp.modes] and mode != self.mode:
            self.mode = mode
            self.update("current_mode_update", currentModeId=mode)
            self.update("config_option_update", configOptions=self.config())
