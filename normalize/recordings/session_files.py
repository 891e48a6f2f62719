"""Session files that agents write about their conversations: the interface of their readers, for every family.

A file is read twice. A survey of all its lines finds the conversation's facts and its live branch. Then
the lines become inputs of a core, in order. Both steps are pure; turnwire/recordings/session_file.py opens the files.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import PurePath
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct, field

from turnwire.normalize.inputs import SessionInput


class DatedInput(NamedTuple):
    """Something that happened in a conversation, and when."""

    at: float | None
    """Seconds since 1970; None if the file has no time."""
    input: SessionInput
    """The input."""


class TokenCounts(NamedTuple):
    """Tokens of one answer."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    """Includes tokens kept for an hour."""
    cache_creation_1h_input_tokens: int = 0


Estimate: TypeAlias = Callable[[str, TokenCounts, float | None], float | None]
"""Returns the cost of a model's tokens in dollars, at a time in seconds since 1970; None if its price is unknown."""


class Answer(NamedTuple):
    """One answer of a model, with its tokens and cost."""

    key: str
    """The same in every copy of it, as forks have them."""
    at: float | None
    """When it came: seconds since 1970."""
    model: str
    """The model."""
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int
    cost_usd: float | None
    """Dollars as the agent reports them; None if it reports nothing for this answer."""
    cache_creation_1h_input_tokens: int = 0
    """The part of the written cache tokens that the cache keeps for an hour."""
    is_share: bool = False
    """The agent reports only the joint cost of several answers, and no known price gives it: the cost is this answer's share."""
    is_copy: bool = False
    """The answer was requested in another conversation, of which this one is a fork."""
    origin: str | None = None
    """That conversation's id, if known."""
    began: float | None = None
    """Of a turn of turnwire's own log: when its process began, or when the turn before it ended, in seconds since 1970."""


class Branch(NamedTuple):
    """A way that a conversation took and left again."""

    leaf: str
    """The message it ends with; `survey.reader(leaf)` reads it."""
    prompt: str
    """The first text in it, cut to one line."""
    at: float | None
    """When it was left: seconds since 1970."""


class SearchableText(Struct, frozen=True, gc=False):
    """A text that can be searched for."""

    message: str
    """The message's uuid."""
    kind: str
    """prompt, text, command, path or title."""
    text: str
    """The text."""


class ConversationSummary(Struct):
    """The facts about a conversation that a list shows."""

    session_id: str | None = None
    """The agent's own id."""
    title: str | None = None
    """The agent's own title, a human's before a model's; None where it has given none."""
    first_prompt: str | None = None
    """The first prompt."""
    folder: str | None = None
    """The working directory."""
    git_branch: str | None = None
    """The branch that was checked out last."""
    model: str | None = None
    """The model that answered last."""
    version: str | None = None
    """The agent's version, last."""
    began: float | None = None
    """Seconds since 1970 of the first message."""
    ended: float | None = None
    """Seconds since 1970 of the last message."""
    turns: int = 0
    """Prompts in the branch that lives."""
    cost_usd: float | None = None
    """Dollars that the conversation itself has cost, without a fork's copied answers, as far as known."""
    cost_is_whole: bool = False
    """False if the cost of some answers is unknown."""
    shared_usd: float = 0.0
    """The part of the cost that is a fork's share of joint costs with its origin."""
    answers: list[Answer] = field(default_factory=list)
    """All answers, of all branches, copies included."""
    other_cost_usd: float = 0.0
    """Dollars for calls other than answers: titles, summaries."""
    branches: list[Branch] = field(default_factory=list)
    """Ways that were left, in the order they were taken."""
    leaf: str | None = None
    """The message that the branch that lives ends with."""
    titles: dict[str, str] = field(default_factory=dict)
    """Titles of other conversations, by their last message."""
    lines: int = 0
    """Lines that were read."""
    unreadable: int = 0
    """Lines without meaning: damaged, or too long to keep."""


class Reader(Protocol):
    """Makes a core's inputs of a conversation's lines."""

    def read(self, line: bytes, agent: str | None = None) -> Sequence[DatedInput]:
        """Return the inputs of a line. `agent`: the subagent, if this is its own file. Never raises."""
        ...

    def settle(self) -> Sequence[DatedInput]:
        """Return the end of the open turn, where its lines say that it is over though nothing follows them yet."""
        ...

    def close(self) -> Sequence[DatedInput]:
        """Return the end of the last turn, where it has one."""
        ...


class Survey(Protocol):
    """Looks over a conversation's lines."""

    def handle(self, line: bytes, agent: str | None = None) -> Sequence[SearchableText]:
        """Take a line and return its searchable texts. Never raises."""
        ...

    def look_over(self, lines: Sequence[bytes], agent: str | None = None) -> Sequence[SearchableText]:
        """Take some lines, as `handle` takes each."""
        ...

    def skip(self) -> None:
        """Count a line that was too long to keep."""
        ...

    def calls(self, agent: str, call: str) -> None:
        """Note the tool call that started a subagent with a file of its own."""
        ...

    def agents(self) -> Collection[str]:
        """Return the subagents seen so far. Each may have a file of its own."""
        ...

    def outline(self) -> ConversationSummary:
        """Return the facts about the conversation."""
        ...

    def reader(self, leaf: str | None = None) -> Reader:
        """Return a reader of the live branch, or of the branch that ends with `leaf`. Raises KeyError for an unknown message."""
        ...


class SessionFiles(Protocol):
    """The files of one agent."""

    agent: str
    """The agent's name for `--agent`."""
    core_goes_on: bool
    """Whether the core that reads the file also continues with the live agent. Otherwise each of the two has a core."""

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line is one of such a file, and of no recording."""
        ...

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id if this line has it. None also if the file's name is the id."""
        ...

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written, in seconds since 1970; None where it does not say."""
        ...

    def named(self, path: PurePath) -> str:
        """Return the conversation's id by where its file is, for lines that do not tell it."""
        ...

    def beside(self, path: PurePath) -> Sequence[PurePath]:
        """Return the files that say more of the conversation; each is read whole, like a line before the first one."""
        ...

    def survey(self, estimate: Estimate | None = None) -> Survey:
        """Start to survey a file. `estimate` splits usage that an agent reports for several answers together."""
        ...
