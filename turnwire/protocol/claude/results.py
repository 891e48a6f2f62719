"""The `result` message: a turn is over, with its duration, cost and tokens.

Two spellings are read: the CLI's (`result` is text, `modelUsage` in camel case, `total_cost_usd`) and Kandev's
(`result` is an object, `model_usage`, `cost_usd`); the properties give both in one form. `usage` is of this turn, cost and
model usage are cumulative for the process.
"""

from msgspec import Struct, field

from turnwire.protocol.claude.blocks import Usage
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.protocol.quantities import Amount, Count

_DIAGNOSTIC = "[ede_diagnostic]"
"""Begins a line that says nothing to a human; the only error of many interrupted turns (2.1)."""


class ModelUsage(Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """What one model used in this process, cumulative."""

    input_tokens: Count = 0
    """Tokens sent that no cache had."""
    output_tokens: Count = 0
    """Tokens written."""
    cache_read_input_tokens: Count = 0
    """Tokens read from the cache."""
    cache_creation_input_tokens: Count = 0
    """Tokens written to the cache."""
    cost_usd: Amount = field(default=0, name="costUSD")
    """Dollars."""
    context_window: Count | None = None
    """The size of the model's context window; absent in 1.0."""


class SpecModelUsage(Struct, frozen=True, gc=False, omit_defaults=True):
    """The same as Kandev spells it."""

    context_window: Count | None = None
    """The size of the model's context window."""


class ResultText(Struct, frozen=True, gc=False, omit_defaults=True):
    """The result as an object, as Kandev has it."""

    text: str = ""
    """The text."""
    session_id: str | None = None
    """The session."""


class Result(Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True, tag_field="type", tag="result"):
    """A turn is over."""

    subtype: str = ""
    """success, error_during_execution, error_max_turns, error_max_budget_usd; miriad-code: error, cancelled."""
    is_error: bool | None = None
    """True for errors; API errors are subtype success with is_error true; 1.0 and 2.0.14 say false on error_*."""
    duration_ms: Amount | None = None
    """Milliseconds of the turn."""
    duration_api_ms: Amount | None = None
    """Milliseconds in the API."""
    num_turns: Count | None = None
    """Exchanges with the model."""
    result: str | ResultText | None = None
    """The last text block again; absent on error_*."""
    uuid: str | None = None
    """The line's own id; not one to resume at."""
    top_session_id: str | None = field(default=None, name="session_id")
    """The CLI's session."""
    stop_reason: str | None = None
    """Why the model stopped."""
    terminal_reason: str | None = None
    """completed, max_turns, api_error, aborted_streaming, … (2.1)."""
    total_cost_usd: Amount | None = None
    """Dollars since the process started."""
    cost_usd: Amount | None = None
    """Dollars as Kandev has it."""
    usage: Usage | None = None
    """Tokens of this turn."""
    model_usage_camel: dict[str, ModelUsage] = field(default_factory=dict, name="modelUsage")
    """What each model used since the process started; from 2.1.277 on a resumed one may count its past."""
    model_usage_since_last_result: dict[str, ModelUsage] | None = None
    """What each model used in this turn; empty where none was asked, absent before 2.1.318 or so."""
    model_usage_snake: dict[str, SpecModelUsage] = field(default_factory=dict, name="model_usage")
    """The context window of each model, as Kandev has it."""
    total_input_tokens: Count | None = None
    """Tokens sent, as Kandev has it."""
    total_output_tokens: Count | None = None
    """Tokens written, as Kandev has it."""
    permission_denials: list[JsonObject] = field(default_factory=list)
    """Tool calls that were refused: {tool_name, tool_use_id, tool_input}."""
    structured_output: Json = None
    """The answer to a JSON schema."""
    errors: list[str] = field(default_factory=list)
    """What went wrong (2.1)."""
    error: Json = None
    """The same as Amp (a text) and Qwen Code ({message}) tell it."""
    api_error_status: Count | None = None
    """The HTTP status of an API error (2.1)."""
    api_error_type: str | None = None
    """The API's word for that error (2.1.330)."""
    origin: JsonObject | None = None
    """Who started the turn, if no human did: {kind: task-notification, …}."""
    user_message_uuids: list[str] = field(default_factory=list)
    """The prompts that were answered (2.1.330)."""

    @property
    def text(self) -> str | None:
        """The result's text in either shape; None if there is no result."""
        return self.result.text if isinstance(self.result, ResultText) else self.result

    @property
    def session_id(self) -> str | None:
        """The session, in either place."""
        if self.top_session_id is None and isinstance(self.result, ResultText):
            return self.result.session_id
        return self.top_session_id

    @property
    def cost(self) -> int | float | None:
        """Dollars since the process started, in either spelling."""
        return self.cost_usd if self.total_cost_usd is None else self.total_cost_usd

    @property
    def human_errors(self) -> list[str]:
        """What went wrong in words for a human, each once."""
        return [error for error in dict.fromkeys(self.errors) if error and not error.startswith(_DIAGNOSTIC)]
