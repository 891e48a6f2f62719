"""The models that `codex app-server` offers, and how hard each can think."""

from collections.abc import Sequence

from turnwire.normalize.events import Model, OptionValue, SessionOption, SessionOptions
from turnwire.normalize.payloads.fields import flag, objects, text
from turnwire.normalize.streams.observations import Event, Observation, SessionStarted
from turnwire.protocol.json_values import JsonObject

EFFORT = "effort"
"""Id of the session option for the model's reasoning effort."""


class Models:
    """The models that one process has listed."""

    def __init__(self) -> None:
        self._listed: dict[str, JsonObject] = {}
        """By their ids."""
        self._model: str | None = None
        self._effort: str | None = None
        self._shown: SessionOption | None = None

    def listed(self, listed: Sequence[JsonObject]) -> Sequence[Observation]:
        """Return the observations in a reply with a list; empty if the list is not of models."""
        offered = [one for one in listed if "supportedReasoningEfforts" in one and not flag(one, "hidden")]
        if not offered:
            return []
        self._listed = {text(one, "model") or "": one for one in offered}
        models = [
            Model(id=name, name=text(one, "displayName"), description=text(one, "description"))
            for name, one in self._listed.items()
        ]
        return [SessionStarted(models=models), *self._options()]

    def uses(self, model: str | None, effort: str | None) -> Sequence[Observation]:
        """Return the observations when a model and an effort are in use."""
        self._model, self._effort = model or self._model, effort
        return self._options()

    def _options(self) -> Sequence[Observation]:
        about = self._listed.get(self._model or "", {})
        values = [
            OptionValue(value=text(one, "reasoningEffort") or "", description=text(one, "description"))
            for one in objects(about, "supportedReasoningEfforts")
        ]
        if not values:
            return []
        option = SessionOption(
            id=EFFORT,
            name="Reasoning effort",
            category="thought_level",
            kind="select",
            current=self._effort or text(about, "defaultReasoningEffort"),
            values=values,
        )
        if option == self._shown:
            return []
        self._shown = option
        return [Event(lambda here: SessionOptions(**here, options=[option]))]
