"""A command as one line."""

import shlex

from turnwire.protocol.json_values import Json


def command_line(value: Json) -> str | None:
    """Return a command line of a text or of a list of words; None for any other value.

    `["bash", "-lc", "ls"]` gives `ls`.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        if len(value) == 3 and value[1] in ("-c", "-lc"):
            return str(value[2])
        return shlex.join(value)
    return None
