"""All that the core remembers, in parts that know one thing each. Nothing of a finished turn is kept."""

from turnwire.normalize.claude.calls import Calls
from turnwire.normalize.claude.context import Context
from turnwire.normalize.claude.costs import Costs
from turnwire.normalize.claude.requests import Requests
from turnwire.normalize.claude.session import Session
from turnwire.normalize.claude.tasks import Tasks
from turnwire.normalize.claude.texts import Thread
from turnwire.normalize.claude.turns import Turns
from turnwire.normalize.claude.turns.prompts import Prompts
from turnwire.normalize.claude.turns.uuids import Commit
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.protocol.claude.blocks import Usage
from turnwire.protocol.claude.control import AnyRequest


class State:
    """The parts, joined by the place of what happens now."""

    def __init__(self, *, resumed: bool, first_turn: int) -> None:
        self.place = EventContext()
        self.turns = Turns(self.place, first_turn)
        self.prompts = Prompts()
        self.session = Session(self.place, resumed=resumed)
        self.main = Thread(self.place)
        self.subagents: dict[str, Thread] = {}
        self.calls = Calls(self.place)
        self.requests = Requests(self.place, self.calls)
        self.tasks = Tasks(self.place)
        self.context = Context(self.place)
        self.costs = Costs(resumed=resumed)
        self.commit = Commit()
        self.sent_requests: dict[str, AnyRequest] = {}
        """Control requests of ours that wait for their response, by id."""
        self.task_woke = False
        """A background task has ended since the last turn; the CLI may start a turn of its own."""
        self.stream_usage: Usage | None = None
        """Usage at the start of the message that streams."""
        self.printed: BoundedDict[None] = BoundedDict(256)
        """UUIDs of lines with the output of commands: `/compact` lets the CLI repeat those that it keeps."""
        self.last_result: str | None = None
        """UUID of the last result, to know a repeated one."""

    def thread(self, parent: str) -> Thread:
        """Return the thread of a subagent."""
        thread = self.subagents.get(parent)
        if thread is None:
            thread = self.subagents[parent] = Thread(self.place, parent)
        return thread

    def repeated(self, uuid: str | None) -> bool:
        """Tell whether a line with the output of a command has come before, and remember it."""
        if uuid is None:
            return False
        known = uuid in self.printed
        self.printed.put(uuid, None)
        return known

    def resumes(self) -> None:
        """The next process goes on with a conversation, whose past it may count with its costs."""
        self.session.goes_on()
        self.costs.resumes()

    def forget_turn(self) -> None:
        """The turn is over: ids of its messages may come again."""
        self.main.forget()
        self.subagents.clear()
        self.task_woke = False
