"""The core's memory, in parts with one subject each. Nothing of a finished turn is kept."""

from turnwire.normalize.claude.calls import Calls
from turnwire.normalize.claude.context import Context
from turnwire.normalize.claude.costs import Costs
from turnwire.normalize.claude.requests import Requests
from turnwire.normalize.claude.session_facts import SessionFacts
from turnwire.normalize.claude.tasks import Tasks
from turnwire.normalize.claude.texts import Thread
from turnwire.normalize.claude.turns import Turns
from turnwire.normalize.claude.turns.prompts import Prompts
from turnwire.normalize.claude.turns.uuids import Commit
from turnwire.normalize.common.bounded_dict import BoundedDict
from turnwire.normalize.common.event_context import EventContext
from turnwire.normalize.common.unique_ids import UniqueIds
from turnwire.protocol.claude.blocks import Usage
from turnwire.protocol.claude.requests import AnyRequest


class ClaudeState:
    """The parts of the memory, and the fields that every event gets."""

    def __init__(self, *, resumed: bool, first_turn: int) -> None:
        self.place = EventContext()
        self.turns = Turns(self.place, first_turn)
        self.prompts = Prompts()
        self.session = SessionFacts(self.place, resumed=resumed)
        self.message_ids = UniqueIds(first_turn)
        self.main = Thread(self.place, self.message_ids)
        self.subagents: dict[str, Thread] = {}
        self.calls = Calls(self.place, first_turn)
        self.requests = Requests(self.place, self.calls)
        self.tasks = Tasks(self.place)
        self.context = Context(self.place)
        self.costs = Costs(resumed=resumed)
        self.commit = Commit()
        self.sent_requests: dict[str, AnyRequest] = {}
        """Control requests of ours that wait for their response, by id."""
        self.task_woke = False
        """A background task has ended since the last turn. The CLI may start a turn on its own."""
        self.stream_usage: Usage | None = None
        """Usage at the start of the message that streams."""
        self.printed: BoundedDict[None] = BoundedDict(256)
        """UUIDs of lines with commands' output. After `/compact` the CLI repeats those that it keeps."""
        self.last_result: str | None = None
        """UUID of the last result, to recognise a repeated one."""

    def thread(self, parent: str) -> Thread:
        """Return the thread of a subagent."""
        thread = self.subagents.get(parent)
        if thread is None:
            thread = self.subagents[parent] = Thread(self.place, self.message_ids, parent)
        return thread

    def repeated(self, uuid: str | None) -> bool:
        """Return whether a line of commands' output is a repetition, and remember it."""
        if uuid is None:
            return False
        known = uuid in self.printed
        self.printed.put(uuid, None)
        return known

    def resumes(self) -> None:
        """The next process continues the conversation. Its costs may include the past."""
        self.session.goes_on()
        self.costs.resumes()

    def forget_turn(self) -> None:
        """The turn is over: its message ids may be used again."""
        self.main.forget()
        self.subagents.clear()
        self.task_woke = False
