"""Options that a CLI is started with, as frontends ask for them and as they are configured. Also the base of all
commands. They are apart from the commands, because a reader of the configuration needs no commands.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue
from pydantic_core import PydanticCustomError

JsonObject = dict[str, JsonValue]
"""An object of JSON, checked to be one."""

LARGEST_NUMBER = (1 << 53) - 1
"""The largest number of an event: JavaScript's numbers hold it exactly."""

ENTRIES = 1000
"""Most entries of an object whose member names the frontend chooses: each wrong one is an error that must be built."""


def _few(value: Any) -> Any:
    if isinstance(value, dict) and len(value) > ENTRIES:
        raise PydanticCustomError(
            "too_many_entries",
            "{count} entries, more than {limit}",
            {"count": len(value), "limit": ENTRIES},
        )
    return value


Few = BeforeValidator(_few)

Text = Annotated[str, Field(min_length=1)]
Texts = Annotated[list[Text], Field(fail_fast=True)]


class Received(BaseModel):
    """Base of everything that a frontend sends. Its fields are checked."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)


class AgentOptions(Received):
    """Options of Claude Code for the start of a CLI, beside its model. A version without one refuses it."""

    model_config = ConfigDict(extra="forbid")

    system_prompt: str | None = None
    """The system prompt, instead of the CLI's own."""
    append_system_prompt: str | None = None
    """Text that is added to the system prompt."""
    tools: Texts | None = None
    """Built-in tools that exist at all; none when empty."""
    allowed_tools: Texts | None = None
    """Permission rules for calls that need no question, such as `Bash(git log:*)`."""
    disallowed_tools: Texts | None = None
    """Permission rules for calls that may not be."""
    max_turns: int | None = Field(default=None, ge=1, le=LARGEST_NUMBER)
    """Model calls that a turn may make."""
    max_budget_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """US dollars that a CLI may spend before it stops."""
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    """How hard the model thinks."""
    fallback_model: Text | None = None
    """Model to use when the first one is overloaded."""
    output_schema: JsonObject | None = None
    """JSON Schema of the answer that each turn ends with."""
    agents: Annotated[dict[str, JsonObject], Few] | None = None
    """Subagents by name, each with `description`, `prompt` and further members that the CLI knows."""
    plugins: Texts | None = None
    """Directories of plugins, on the sidecar's machine."""
    setting_sources: Annotated[list[Literal["user", "project", "local"]], Field(fail_fast=True)] | None = None
    """Which of the CLI's own settings files count; none when empty, all when absent."""
    add_dirs: Texts | None = None
    """Directories that the tools may use, in addition to the workspace."""
    settings: JsonObject | None = None
    """Settings of the CLI. They override those of its files."""
    checkpointing: bool | None = None
    """Remember files before they are changed, for the control request `rewind_files`."""
