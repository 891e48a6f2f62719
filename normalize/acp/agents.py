"""What agents do that the protocol does not say, by the name they give themselves; the default supposes nothing.

Each entry is a fact seen in recordings. What an agent tells in `_meta` or in its results is read wherever it stands,
whoever wrote it; here is only what changes how the same line is to be understood.
"""

from msgspec import Struct

from turnwire.protocol.json_values import Json, text_at


class Quirks(Struct, frozen=True):
    """How an agent differs."""

    whole_files: bool = False
    """A diff holds the whole file, so that its line numbers are the file's own."""
    is_silent_when_denied: bool = False
    """A call that was refused is never heard of again: the refusal itself ends it."""
    prompts_join: bool = False
    """A prompt that comes while a turn runs is heard in this turn, and both are answered at its end."""
    usage_is_total: bool = False
    """The usage of an answer counts the session and not the turn."""
    usage_is_of_last_call: bool = False
    """The usage of an answer counts the last call of the model alone: of a turn with tool calls it is not the turn's."""
    says_errors: bool = False
    """An API that fails is told as text that begins with `Error: `; the turn ends as if all were well, without a usage where no call
    of the session has succeeded."""
    tells_failures: bool = False
    """An API that fails is told as the status `systemError` of the thread, then why as text; the turn ends as if all were well."""
    says_modes: bool = False
    """A change of the mode is told as text, `[MODE_UPDATE] MODE`."""
    names_tools_in_ids: bool = False
    """A call's id begins with the tool's name and two underscores."""
    begins_with_names: bool = False
    """A call's first title is the tool's name, where it is one word; what it does is said by a later one."""
    titles_are_commands: bool = False
    """Of a command the agent tells no arguments: the title is the command, whole. Titles of other agents are their model's words."""
    batches_permissions: bool = False
    """One request asks for all calls that wait; it names the last of them."""


SAFE = Quirks()
"""An agent of which nothing is known."""

_KNOWN: tuple[tuple[str, Quirks], ...] = (
    (
        "gemini",
        Quirks(
            whole_files=True,
            is_silent_when_denied=True,
            says_modes=True,
            names_tools_in_ids=True,
            titles_are_commands=True,
        ),
    ),
    ("qwen", Quirks(whole_files=True)),
    ("copilot", Quirks(usage_is_total=True, says_errors=True)),
    ("codex", Quirks(tells_failures=True)),
    ("opencode", Quirks(prompts_join=True, usage_is_of_last_call=True)),
    ("kilo", Quirks(usage_is_of_last_call=True)),
    ("kimi", Quirks(begins_with_names=True)),
    ("pi-acp", Quirks(titles_are_commands=True)),
    ("@factory/", Quirks(batches_permissions=True)),  # Droid
)
"""A part of the agent's name in small letters -> what is special; the first that fits."""


def quirks(agent_info: Json) -> Quirks:
    """Return what is known of an agent by the `agentInfo` of its answer to `initialize`."""
    name = text_at(agent_info, "name").lower()[:200]
    return next((known for part, known in _KNOWN if part in name), SAFE)
