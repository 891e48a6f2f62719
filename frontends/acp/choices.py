"""What an editor may choose in a session: its permission mode and its model, as ACP's modes and as config options.

Both are told twice, since editors differ in which they know. turnwire's events name what is chosen and not what there is
to choose, so Claude Code's own words are listed for it, and for any agent what has been seen.
"""

from collections.abc import Iterable

from turnwire_client.values import JsonObject

MODES = {
    "default": ("Ask", "The agent asks before it changes or runs anything"),
    "acceptEdits": ("Accept edits", "Files are changed without asking; commands are asked about"),
    "plan": ("Plan", "The agent plans, and changes nothing"),
    "dontAsk": ("Don't ask", "What is not allowed already is refused without asking"),
}
"""Claude Code's modes that frontends may choose, wherever they connect from; any other is listed once it is on."""

CLAUDES_MODES = frozenset({*MODES, "bypassPermissions", "auto"})
"""All of Claude Code's modes; an agent that is in another one has none of these."""

CLAUDE_MODELS = {"default": "Default", "opus": "Opus", "sonnet": "Sonnet", "haiku": "Haiku"}
"""Words that Claude Code takes for the newest of a kind."""

DEFAULT_MODEL = "default"


class Choices:
    """The modes and models of one session."""

    def __init__(self, agent: str | None = None) -> None:
        """Take the agent's name; Claude Code's words are listed for agents of that name, and of models by that name."""
        self._is_claude = agent is None or "claude" in agent
        self.mode = "default"
        self.model: str | None = None
        self._modes: dict[str, None] = dict.fromkeys(MODES)
        self._models: dict[str, None] = {}

    def changed(self, *, mode: str | None = None, model: str | None = None) -> Iterable[JsonObject]:
        """Note what is chosen now; returns the updates that tell so, none when it was so before."""
        updates: list[JsonObject] = []
        if mode is not None and mode != self.mode:
            if mode not in CLAUDES_MODES:
                self._modes = {each: None for each in self._modes if each not in CLAUDES_MODES}
            self.mode = mode
            self._modes[mode] = None
            updates.append(self.mode_update())
        is_new = model is not None and model != self.model
        if model is not None and is_new:
            self.model = model
            self._models[model] = None
        if updates or is_new:
            updates.append({"sessionUpdate": "config_option_update", "configOptions": self.options()})
        return updates

    def mode_update(self) -> JsonObject:
        """Return the update that names the mode."""
        return {"sessionUpdate": "current_mode_update", "currentModeId": self.mode}

    def modes(self) -> JsonObject:
        """Return ACP's state of modes."""
        listed = [
            {
                "id": mode,
                "name": MODES.get(mode, (mode, ""))[0],
                "description": MODES.get(mode, ("", mode))[1],
            }
            for mode in self._modes
        ]
        return {"currentModeId": self.mode, "availableModes": listed}

    def options(self) -> list[JsonObject]:
        """Return ACP's config options."""
        mode = {
            "type": "select",
            "id": "mode",
            "name": "Mode",
            "category": "mode",
            "currentValue": self.mode,
            "options": [
                {"value": each["id"], "name": each["name"]} for each in self.modes()["availableModes"]
            ],
        }
        known = {DEFAULT_MODEL: "Default"}
        if self._is_claude or "claude" in (self.model or ""):
            known = CLAUDE_MODELS
        names = {**known, **{model: model for model in self._models if model not in known}}
        model = {
            "type": "select",
            "id": "model",
            "name": "Model",
            "category": "model",
            "currentValue": self.model or DEFAULT_MODEL,
            "options": [{"value": value, "name": name} for value, name in names.items()],
        }
        return [mode, model]
