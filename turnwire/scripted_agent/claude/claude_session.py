"""The state of one run of the agent that outlives a turn, and the state of one turn."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from turnwire.protocol.errors import TurnwireError
from turnwire.protocol.json_values import Json, JsonObject
from turnwire.scripted_agent.claude.answers import Answers, fill
from turnwire.scripted_agent.claude.dialect import BLANK_LINE, Dialect
from turnwire.scripted_agent.claude.host import Host, Prompt
from turnwire.scripted_agent.claude.written_lines import Usage, Wire
from turnwire.scripted_agent.script import AnyStep, Script, Tool


@dataclass(frozen=True)
class Options:
    """The command-line options that matter here."""

    dialect: Dialect
    partial_messages: bool = False
    replay_user_messages: bool = False
    asks_host: bool = False
    """Whether --permission-prompt-tool stdio was given; without it a question is a denial."""
    prompt: str | None = None
    """A prompt on the command line: one turn, then the end."""


@dataclass
class ClaudeSession:
    """The state of a run."""

    script: Script
    options: Options
    wire: Wire
    host: Host
    answers: Answers
    hooks: dict[str, list[JsonObject]] = field(default_factory=dict)
    """Hooks that `initialize` registered: event name -> matchers with their callback ids."""
    rules: list[JsonObject] = field(default_factory=list)
    """Permission rules that the host added: toolName, ruleContent."""
    usage: Usage = field(default_factory=Usage)
    """Usage of the whole process, for `modelUsage`."""
    cost: float = 0.0
    running: asyncio.Task[None] | None = None
    """The turn that runs."""
    interrupting: bool = False
    """Whether the cancellation of the running turn is an interrupt from the host."""
    has_result: bool = False
    """True once the newest turn has written its result: a prompt that arrives now belongs to the next turn."""
    _told_queued: list[Prompt] = field(default_factory=list)

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self.running is not None and not self.running.done() and not self.has_result

    def tell_queued(self, prompt: Prompt) -> None:
        """Report a waiting prompt, in dialects that do."""
        if not self.options.dialect.is_foreign:
            if prompt.uuid:
                self.wire.lifecycle(prompt.uuid, "queued")
            return
        # with no turn running, the first that waits is about to begin one
        position = len(self.host.prompts) - (not self.is_busy)
        if position:
            self._told_queued.append(prompt)
            self.wire.system("queued", position=position)

    def tell_injected(self, prompts: Sequence[Prompt]) -> None:
        """Report waiting prompts that the turn now takes in, in dialects that do."""
        queued = [prompt for prompt in prompts if prompt in self._told_queued]
        self._told_queued = [prompt for prompt in self._told_queued if prompt not in queued]
        if queued:
            length = len(self.join(queued))
            self.wire.system("injected", message_count=len(queued), content_length=length)

    def join(self, prompts: Sequence[Prompt]) -> str:
        """Join prompts that the turn takes in together into one text."""
        joint = BLANK_LINE if self.options.dialect.is_foreign else "\n"
        return joint.join(prompt.text for prompt in prompts)

    def interrupt(self) -> None:
        """Stop the running turn, if one runs."""
        if self.running is not None and self.is_busy:
            self.interrupting = True
            self.running.cancel()


Play: TypeAlias = Callable[[Sequence[AnyStep], str | None], Awaitable[None]]
"""Plays steps. The second argument is the id of the tool call whose subagent runs them; None for the main thread."""


@dataclass(frozen=True)
class Call:
    """A call without a result yet."""

    id: str
    tool: Tool
    input: JsonObject
    parent: str | None


@dataclass
class TurnState:
    """The state of a turn."""

    session: ClaudeSession
    text: str
    """The prompt, or the prompts that became one turn."""
    prompts: list[Prompt]
    usage: Usage = field(default_factory=Usage)
    denials: list[JsonObject] = field(default_factory=list)
    open_calls: dict[str, Call] = field(default_factory=dict)
    """Calls without a result, by id."""
    folded: list[Prompt] = field(default_factory=list)
    """Prompts that came while a tool ran."""

    def fill(self, value: Json, arguments: JsonObject | None = None) -> Json:
        """Put the prompt and a tool's input where a script names them."""
        return fill(value, self.text, arguments)


class TurnEnds(TurnwireError):
    """Ends the turn with a result of these fields. `reason` says why."""

    def __init__(self, reason: str, fields: JsonObject) -> None:
        super().__init__(reason)
        self.fields = fields
