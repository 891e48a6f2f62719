"""What an editor may choose in a session: its permission mode and its model, as ACP's modes and as config options.

Both are told twice, since editors differ in which they know. The hub says which modes an agent has and whether its model can be
changed. The models are those that the agent lists, and the one it uses; of an agent that lists none, there is no other to choose.
"""

import re
from collections.abc import Iterable, Sequence

from turnwire.client.events import Mode, Model
from turnwire.client.values import JsonObject

MODES = {
    "default": ("Ask", "The agent asks before it changes or runs anything"),
    "acceptEdits": ("Accept edits", "Files are changed without asking; commands are asked about"),
    "plan": ("Plan", "The agent plans, and changes nothing"),
    "dontAsk": ("Don't ask", "What is not allowed already is refused without asking"),
}
"""Names and descriptions of Claude Code's modes, which it does not tell itself."""

LOOSE = frozenset({"auto", "bypassPermissions"})
"""Modes in which nobody is asked: a hub refuses them to frontends unless it is configured otherwise. Listed once one is on."""

DEFAULT_MODEL = "default"
"""What Claude Code calls the model of its own choice; to set it is to set none."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-_\s]+")


def readable(mode: str) -> str:
    """Return an id as words: `autoEdit` and `auto-edit` are Auto edit."""
    words = " ".join(word if word.isupper() else word.lower() for word in _HUMP.split(mode) if word)
    return words[:1].upper() + words[1:] or mode


class Choices:
    """The modes and models of one session."""

    def __init__(self, agent: str | None = None) -> None:
        """Take the agent's name: Claude Code's modes have the words that people know."""
        self._is_claude = agent is None or "claude" in agent
        self._mode: str | None = None
        self._model: str | None = None
        self._modes: tuple[str, ...] = ()
        self._sets_model = True
        self._models: dict[str, JsonObject] = {}
        """Those that the agent lists, by id."""
        self._words: dict[str, tuple[str, str]] = {}
        """What the agent itself calls its modes."""

    def offer(self, modes: Sequence[str], *, sets_model: bool) -> Iterable[JsonObject]:
        """Note what the agent can do; returns the updates that tell so, none when it was so before."""
        offered = tuple(modes)
        if (offered, sets_model) == (self._modes, self._sets_model):
            return []
        self._modes, self._sets_model = offered, sets_model
        return [self._options_update()]

    def changed(
        self,
        *,
        mode: str | None = None,
        model: str | None = None,
        modes: Sequence[Mode] | None = None,
        models: Sequence[Model] | None = None,
    ) -> Iterable[JsonObject]:
        """Note what is chosen now, and what the agent offers; returns the updates that tell so, none when it was so before."""
        updates: list[JsonObject] = []
        if models is not None:
            listed: dict[str, JsonObject] = {
                each.id: {
                    "value": each.id,
                    "name": each.name or each.id,
                    **({"description": each.description} if each.description else {}),
                }
                for each in models
            }
            if listed != self._models:
                self._models = listed
                updates.append(self._options_update())
        if modes is not None:
            told = {each.id: (each.name or readable(each.id), each.description or "") for each in modes}
            if told != self._words:
                self._words = told
                updates = [self._options_update()]
        if mode is not None and mode != self._mode:
            is_shown = mode == self._shown_mode()
            self._mode = mode
            if not is_shown:
                updates.clear()
                updates += [self._mode_update(mode), self._options_update()]
        if model is not None and model != self._model:
            self._model = model
            updates = [each for each in updates if each["sessionUpdate"] != "config_option_update"]
            updates.append(self._options_update())
        return updates

    def state(self) -> JsonObject | None:
        """Return the update that names the mode; None where there is none."""
        mode = self._shown_mode()
        return None if mode is None else self._mode_update(mode)

    def modes(self) -> JsonObject | None:
        """Return ACP's state of modes; None where the agent has none."""
        current = self._shown_mode()
        if current is None:
            return None
        listed = [
            {"id": mode, "name": name, **({"description": description} if description else {})}
            for mode in dict.fromkeys((*self._modes, current))
            if mode not in LOOSE or mode == current
            for name, description in (self._called(mode),)
        ]
        return {"currentModeId": current, "availableModes": listed}

    def _called(self, mode: str) -> tuple[str, str]:
        """Return a mode's name and description: the agent's own, Claude Code's, or what can be read out of its id."""
        known = MODES if self._is_claude else {}
        return self._words.get(mode) or known.get(mode) or (readable(mode), "")

    def options(self) -> list[JsonObject]:
        """Return ACP's config options: all that can be chosen."""
        options: list[JsonObject] = []
        if (modes := self.modes()) is not None:
            listed = [
                {"value": each["id"], **{name: said for name, said in each.items() if name != "id"}}
                for each in modes["availableModes"]
            ]
            options.append(_select("mode", "Mode", modes["currentModeId"], listed))
        current = self._model or next(iter(self._models), None)
        if self._sets_model and current is not None:
            models = {**self._models}
            models.setdefault(current, {"value": current, "name": current})
            options.append(_select("model", "Model", current, [*models.values()]))
        return options

    def _shown_mode(self) -> str | None:
        """Return the mode; before it is known the one that agents begin in."""
        if self._mode is not None or not self._modes:
            return self._mode
        return "default" if "default" in self._modes else self._modes[0]

    def _mode_update(self, mode: str) -> JsonObject:
        return {"sessionUpdate": "current_mode_update", "currentModeId": mode}

    def _options_update(self) -> JsonObject:
        return {"sessionUpdate": "config_option_update", "configOptions": self.options()}


def _select(name: str, title: str, current: str, options: list[JsonObject]) -> JsonObject:
    return {
        "type": "select",
        "id": name,
        "name": title,
        "category": name,
        "currentValue": current,
        "options": options,
    }
