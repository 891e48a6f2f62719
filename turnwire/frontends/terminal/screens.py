"""What lies over the conversation for a moment: a list to choose from, and the help."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from turnwire.client import SessionSummary

from .deciding import TICK_S, Gate
from .spelling import ordered, visible_line

HELP = """\
Enter          send          Ctrl+J      new line
Up, Down       earlier prompts, in the first and last line
@name, /name   files and commands; Tab takes the first one
Esc            stop the running turn
F2             go to what waits for a decision; Esc leaves it
F3, F4         the call before, the call after; Enter opens it
F5             open or fold all calls
F6             take back the last prompt that waits, to edit it
F7             what was used: this session, and the last days
F8             send it so that it waits for the end of the turn
Ctrl+O         sessions      Ctrl+F      find in the conversation
Ctrl+T         mode          Ctrl+L      model
PageUp         scroll; at the beginning it loads what came before
Ctrl+B D       leave; the session goes on (Ctrl+Q does the same)"""


class Choose(ModalScreen[str | None]):
    """A list; gives the id that was chosen, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back")]

    def __init__(self, title: str, choices: Sequence[tuple[str, str]], current: str | None = None) -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._current = current

    def compose(self) -> ComposeResult:
        """Lay it out."""
        with Vertical(classes="dialog"):
            yield Static(Text(self._title, "bold"))
            yield OptionList(
                *(
                    Option(Text(text, no_wrap=True, overflow="ellipsis"), id=f"c{at}")
                    for at, (_, text) in enumerate(self._choices)
                )
            )

    def on_mount(self) -> None:
        """Stand on the one that is in force."""
        for at, (value, _) in enumerate(self._choices):
            if value == self._current:
                self.query_one(OptionList).highlighted = at

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Give the choice."""
        self.dismiss(self._choices[event.option_index][0])

    def action_leave(self) -> None:
        """Give none."""
        self.dismiss(None)


class Sure(ModalScreen[bool]):
    """A question before something that asks less from then on; its key counts after a second."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back"), Binding("y", "yes", "yes")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._gate = Gate()

    def compose(self) -> ComposeResult:
        """Lay it out."""
        with Vertical(classes="dialog"):
            yield Static(Text(self._text, "bold red"))
            yield Static("y: yes   Esc: no")

    def on_mount(self) -> None:
        """Begin to count."""
        self.set_interval(TICK_S, lambda: self._gate.tick(0, 0, 0))

    def action_yes(self) -> None:
        """Do it."""
        if self._gate.armed:
            self.dismiss(True)

    def action_leave(self) -> None:
        """Leave it."""
        self.dismiss(False)


class Find(ModalScreen[str | None]):
    """Words to look for."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back")]

    def compose(self) -> ComposeResult:
        """Lay it out."""
        with Vertical(classes="dialog"):
            yield Static(Text("Find in the conversation", "bold"))
            yield Input()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Give the words."""
        self.dismiss(event.value)

    def action_leave(self) -> None:
        """Give none."""
        self.dismiss(None)


class Leader(ModalScreen[bool]):
    """Waits for the key after Ctrl+B: `d` leaves."""

    def compose(self) -> ComposeResult:
        """Lay it out."""
        yield Static("d: leave, the session goes on; any other key: back", classes="dialog")

    def on_key(self, event: Key) -> None:
        """Take the key."""
        event.stop()
        self.dismiss(event.key == "d")


class Help(ModalScreen[None]):
    """The keys."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,f1", "dismiss", "back")]

    def compose(self) -> ComposeResult:
        """Lay it out."""
        with Vertical(classes="dialog"):
            yield Static(Text(HELP))


class Used(ModalScreen[None]):
    """What was used."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,enter,f7", "dismiss", "back")]

    def __init__(self, session: Sequence[str], days: Sequence[str]) -> None:
        super().__init__()
        self._lines = ["This session", *session, "", "All conversations", *days]

    def compose(self) -> ComposeResult:
        """Lay it out."""
        with VerticalScroll(classes="dialog"):
            yield Static(Text("\n".join(self._lines)))


def session_choices(sessions: Sequence[SessionSummary]) -> list[tuple[str, str]]:
    """Return sessions in the order in which one looks for them: who waits first, then the newest."""

    def order(one: SessionSummary) -> tuple[bool, bool, str]:
        return one.pending > 0, one.state in {"running", "waiting"}, one.updated or ""

    return [(one.session, session_line(one)) for one in sorted(sessions, key=order, reverse=True)]


def session_line(one: SessionSummary) -> str:
    """Return a session in one line."""
    waits = f"{one.pending} waiting" if one.pending else one.state
    cost = "" if one.total_cost_usd is None else f"  ${one.total_cost_usd:.2f}"
    title = ordered(visible_line(one.title or one.session))
    return (
        f"{title}  ·  {waits}{cost}  ·  {visible_line(one.agent or '')}  {visible_line(one.workspace or '')}"
    )
