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
from turnwire.scripted_agent.claude.wire import Usage, Wire
from turnwire.scripted_agent.script import AnyStep, Script, Tool


@dataclass(frozen=True)
class Options:
    """What the command line of a CLI says that matters here."""

    dialect: Dialect
    partial_messages: bool = False
    replay_user_messages: bool = False
    asks_host: bool = False
    """Whether --permission-prompt-tool stdio was given; without it a question is a denial."""
    prompt: str | None = None
    """A prompt on the command line: one turn, then the end."""


@dataclass
class Session:
    """What a run knows."""

    script: Script
    options: Options
    wire: Wire
    host: Host
    answers: Answers
    hooks: dict[str, list[JsonObject]] = field(default_factory=dict)
    """What `initialize` registered: event name -> matchers with their callback ids."""
    rules: list[JsonObject] = field(default_factory=list)
    """Permission rules that the host added: toolName, ruleContent."""
    usage: Usage = field(default_factory=Usage)
    """Of the whole process, as `modelUsage` tells it."""
    cost: float = 0.0
    running: asyncio.Task[None] | None = None
    """The turn that runs."""
    interrupting: bool = False
    """Whether the cancellation of the running turn is an interrupt from the host."""
    has_result: bool = False
    """Whether the newest turn has told its result: a prompt that comes now is the next turn's."""
    _told_queued: list[Prompt] = field(default_factory=list)

    @property
    def is_busy(self) -> bool:
        """Whether a turn runs."""
        return self.running is not None and not self.running.done() and not self.has_result

    def tell_queued(self, prompt: Prompt) -> None:
        """Say that a prompt has come and waits, as the dialect does."""
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
        """Say that prompts which waited are heard now, where the dialect does."""
        queued = [prompt for prompt in prompts if prompt in self._told_queued]
        self._told_queued = [prompt for prompt in self._told_queued if prompt not in queued]
        if queued:
            length = len(self.join(queued))
            self.wire.system("injected", message_count=len(queued), content_length=length)

    def join(self, prompts: Sequence[Prompt]) -> str:
        """Return prompts that are heard together as one text."""
        joint = BLANK_LINE if self.options.dialect.is_foreign else "\n"
        return joint.join(prompt.text for prompt in prompts)

    def interrupt(self) -> None:
        """Stop the running turn, if one runs."""
        if self.running is not None and self.is_busy:
            self.interrupting = True
            self.running.cancel()


Play: TypeAlias = Callable[[Sequence[AnyStep], str | None], Awaitable[None]]
"""Plays steps; the second argument is the tool call whose subagent they are, None for the main thread."""


@dataclass(frozen=True)
class Call:
    """A call without a result yet."""

    id: str
    tool: Tool
    input: JsonObject
    parent: str | None


@dataclass
class TurnState:
    """What a turn knows."""

    session: Session
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
    """The turn ends here, with the result that these fields make; says why in `reason`."""

    def __init__(self, reason: str, fields: JsonObject) -> None:
        super().__init__(reason)
        self.fields = fields
