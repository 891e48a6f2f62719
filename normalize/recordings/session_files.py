"""What agents keep of their conversations themselves, as files: what a reader of such files is, whatever the family.

Such a file is read twice: a survey of all its lines tells what the conversation is and which of its branches lives; then
the lines become the inputs of a core, in order. Both are pure; who opens files is turnwire/recordings/session_file.py.
"""

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct, field

from turnwire.normalize.inputs import SessionInput


class DatedInput(NamedTuple):
    """Something that happened in a conversation, and when."""

    at: float | None
    """Seconds since 1970; None where no time was kept."""
    input: SessionInput
    """What happened."""


class TokenCounts(NamedTuple):
    """Tokens of one answer."""

    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    """Those kept for an hour included."""
    cache_creation_1h_input_tokens: int = 0


Estimate: TypeAlias = Callable[[str, TokenCounts, float | None], float | None]
"""Returns what a model's tokens cost, in dollars, at a time in seconds since 1970; None where its price is not known."""


class Answer(NamedTuple):
    """One answer of a model, and what it took."""

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
    """Dollars, by what the agent itself says of its cost; None where it says nothing of this answer."""
    cache_creation_1h_input_tokens: int = 0
    """Those of the tokens written to the cache that it keeps for an hour."""
    is_share: bool = False
    """The agent tells what several answers have cost together, and by no price that is known: the cost is this one's share."""
    is_copy: bool = False
    """It was asked for in another conversation, whose fork this one is."""
    origin: str | None = None
    """That conversation, where its id is known."""
    began: float | None = None
    """Of a turn of turnwire's own log: when its process began, or when the turn before it ended, in seconds since 1970."""


class Branch(NamedTuple):
    """A way that a conversation took and left again."""

    leaf: str
    """The message it ends with; `survey.reader(leaf)` reads it."""
    prompt: str
    """The first thing that was said in it, cut to a line."""
    at: float | None
    """When it was left: seconds since 1970."""


class SearchableText(NamedTuple):
    """A text that can be searched for."""

    message: str
    """The message's uuid."""
    kind: str
    """prompt, text, command, path or title."""
    text: str
    """The text."""


class ConversationSummary(Struct):
    """What a list of conversations shows of one."""

    session_id: str | None = None
    """The agent's own id."""
    title: str | None = None
    """The agent's own title, a human's before a model's; None where it has given none."""
    first_prompt: str | None = None
    """What was asked first."""
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
    """Dollars that the conversation itself has cost, without what a fork has copied; as far as it is known."""
    cost_is_whole: bool = False
    """False when some answers' cost is not known."""
    shared_usd: float = 0.0
    """How much of the cost is a fork's share of what its origin's answers and its own have cost together."""
    answers: list[Answer] = field(default_factory=list)
    """All answers, of all branches, copies included."""
    other_cost_usd: float = 0.0
    """Dollars that the agent counts beside those of its answers: titles, summaries."""
    branches: list[Branch] = field(default_factory=list)
    """Ways that were left, in the order they were taken."""
    leaf: str | None = None
    """The message that the branch that lives ends with."""
    titles: dict[str, str] = field(default_factory=dict)
    """Titles of other conversations, by the message that those end with."""
    lines: int = 0
    """Lines that were read."""
    unreadable: int = 0
    """Lines of those that said nothing: damaged, or too long to be kept."""


class Reader(Protocol):
    """Makes a core's inputs of a conversation's lines."""

    def read(self, line: bytes, agent: str | None = None) -> Sequence[DatedInput]:
        """Return what a line says; `agent` names the subagent in whose own file it is. Never raises."""
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
        """Look at a line; return what can be searched for in it. Never raises."""
        ...

    def skip(self) -> None:
        """Count a line that was too long to be kept."""
        ...

    def calls(self, agent: str, call: str) -> None:
        """Take in which tool call has started a subagent with a file of its own."""
        ...

    def agents(self) -> Collection[str]:
        """Return the subagents that have been told of; each may have a file of its own."""
        ...

    def outline(self) -> ConversationSummary:
        """Return what is known of the conversation."""
        ...

    def reader(self, leaf: str | None = None) -> Reader:
        """Return a reader of the branch that lives, or of the one that ends with a message; KeyError for none."""
        ...


class SessionFiles(Protocol):
    """The files of one agent."""

    agent: str
    """The agent, by the name that `--agent` takes."""
    core_goes_on: bool
    """Whether the core that has read its lines goes on with the agent itself; else each of the two has a core of its own."""

    def recognises(self, line: bytes) -> bool:
        """Tell whether a line is one of such a file, and of no recording."""
        ...

    def session_of(self, line: bytes) -> str | None:
        """Return the conversation's id, of a line that tells it; None also where a conversation is called as its file."""
        ...

    def moment(self, line: bytes) -> float | None:
        """Return when a line was written, in seconds since 1970; None where it does not say."""
        ...

    def survey(self, estimate: Estimate | None = None) -> Survey:
        """Begin to look over a file; `estimate` splits what an agent tells of several answers together."""
        ...
