"""Choose the script's turn that answers a prompt, and fill in its texts."""

import re

from turnwire.protocol.json_values import Json, JsonObject
from turnwire.scripted_agent.script import Script, Text, Turn


class Answers:
    """The answers of a script, in the order of one conversation."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._counted = 0

    def turn_for(self, prompt: str) -> Turn:
        """Choose the answer: a turn that matches, else the next in order, else the fallback, else an echo."""
        for turn in self._script.turns:
            if turn.match is not None and re.search(turn.match, prompt):
                return turn
        ordered = [turn for turn in self._script.turns if turn.match is None]
        if self._counted < len(ordered):
            self._counted += 1
            return ordered[self._counted - 1]
        return self._script.fallback or Turn(steps=[Text(text="Scripted echo: {prompt}")])


def fill(value: Json, prompt: str, arguments: JsonObject | None = None) -> Json:
    """Replace `{prompt}` by the prompt and `{input.NAME}` by a field of the tool's input."""
    match value:
        case str():
            for name, argument in (arguments or {}).items():
                value = value.replace("{input." + name + "}", str(argument))
            return value.replace("{prompt}", prompt)
        case list():
            return [fill(inner, prompt, arguments) for inner in value]
        case dict():
            return {key: fill(inner, prompt, arguments) for key, inner in value.items()}
        case _:
            return value
