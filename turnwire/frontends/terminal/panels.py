"""What waits for a decision, below the conversation: a permission request, or a question."""

from typing import ClassVar

from rich.console import Group
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.errors import NoWidget
from textual.events import Key, Resize
from textual.message import Message
from textual.widgets import Input, Static

from turnwire.client.events import PermissionOption, PermissionRequest, QuestionRequest
from turnwire.client.requests import Answer
from turnwire.client.values import JsonValue

from .deciding import TICK_S, Gate
from .forms import Field, fields_of, value_of
from .rows import drawn
from .showing import asked, first_line, is_permanent, measured, option_words, remembered_words
from .spelling import ordered, visible_line, visible_prose


class Panel(Vertical, can_focus=True):
    """What waits. It never takes the focus by itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_by(-1)", show=False),
        Binding("down", "scroll_by(1)", show=False),
        Binding("home", "scroll_edge(False)", show=False),
        Binding("end", "scroll_edge(True)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(id="decision")
        self._gate = Gate()

    def action_scroll_by(self, lines: int) -> None:
        """Scroll it, no further than what has been on the screen."""
        area = self._area()
        place = int(area.scroll_y) + lines
        area.scroll_to(
            y=place if lines < 0 or self._gate.seen else min(place, self._gate.reached), animate=False
        )

    def action_scroll_edge(self, end: bool) -> None:
        """Go to its end, or back to its beginning."""
        area = self._area()
        area.scroll_to(y=area.max_scroll_y if end else 0, animate=False)

    def scroll_pages(self, by: int) -> None:
        """Scroll by what fits into the box."""
        self.action_scroll_by(by * max(1, self._area().size.height - 1))

    def _area(self) -> VerticalScroll:
        return self.query_one("#asked", VerticalScroll)

    def _count(self) -> None:
        """Count a tick of the clock, and which rows are on the screen in it."""
        if self.app.screen is not self.screen or not self.app.app_focus:
            self._gate.moved()
            return
        area = self._area()
        try:
            rows = self.screen.find_widget(area).visible_region.height
        except NoWidget:
            rows = 0
        if rows:
            first = int(area.scroll_y)
            self._gate.tick(first, first + rows, area.virtual_size.height)


class Decision(Panel):
    """A permission request. Nothing in it is chosen beforehand."""

    class Decided(Message):
        """The person has decided."""

        def __init__(self, request: PermissionRequest, option: PermissionOption) -> None:
            super().__init__()
            self.request = request
            self.option = option

    class Left(Message):
        """The person goes back to the prompt."""

    def __init__(self, request: PermissionRequest, waiting: int) -> None:
        super().__init__()
        self.request = request
        self._parts = asked(request)
        self._waiting = waiting
        self._said = ""
        self._drawn = Text()

    def compose(self) -> ComposeResult:
        """Lay it out: the title, all of what would be allowed, the answers."""
        more = f" · {self._waiting} more wait" if self._waiting else ""
        title = f"{measured(self._parts)}{more} · {first_line(self.request.permission_title)}"
        yield Static(Text(title, "bold yellow"), id="title")
        with VerticalScroll(id="asked", can_focus=False):
            yield Static(Group(*(drawn(part) for part in self._parts)))
        with VerticalScroll(id="options", can_focus=False):
            yield Static(id="answers")

    def on_mount(self) -> None:
        """Begin to count."""
        self.set_interval(TICK_S, self._tick)

    def on_resize(self, _: Resize) -> None:
        """Begin the second anew: all of it has moved."""
        self._gate.moved()

    def on_key(self, event: Key) -> None:
        """Take a key that may mean an answer."""
        if self.screen.focused is not self:
            return  # it came in the same instant as the Escape that left
        if event.key == "escape":
            event.stop()
            if self._gate.confirming is not None:
                self._gate.back()
                self._draw()
            else:
                self.screen.set_focus(None)
                self.post_message(self.Left())
        elif (option := self._option_of(event.character or "")) is not None:
            event.stop()
            self._press(option)

    def _area(self) -> VerticalScroll:
        """Return what is to be seen to its end: all that would be allowed, or what is to be confirmed."""
        confirms = self._gate.confirming is not None
        return self.query_one("#options" if confirms else "#asked", VerticalScroll)

    def _option_of(self, key: str) -> PermissionOption | None:
        options = self.request.permission_options
        if self._gate.confirming is not None:
            return self._gate.confirming if key == "y" else None
        if key.isdecimal() and 1 <= int(key) <= len(options):
            return options[int(key) - 1]
        kind = {"y": "allow_once", "n": "reject_once"}.get(key)
        return next((one for one in options if one.kind == kind), None)

    def _press(self, option: PermissionOption) -> None:
        decided = self._gate.press(option)
        self._said = self._gate.refusal(option)
        self._draw()
        if decided is not None:
            self.post_message(self.Decided(self.request, decided))

    def _tick(self) -> None:
        if not self.query("#answers"):
            return  # it is being left
        self._count()
        self._draw()

    def _draw(self) -> None:
        text = Text()
        self.query_one("#asked").display = self._gate.confirming is None
        if (option := self._gate.confirming) is not None:
            text.append("This is remembered for later calls:\n", "bold red")
            text.append(f"{remembered_words(option)}\n")
            text.append("y: yes, remember it   Esc: back", "" if self._gate.armed else "dim")
        else:
            # above the answers, whose words may be longer than the room for them
            below = "" if self._gate.seen else "There is more below: Down or PageDown shows it. "
            focus = "" if self.has_focus else "F2 goes there. "
            if told := f"{focus}{below}{self._said}".strip():
                text.append(f"{told}\n", "yellow")
            letters = {id(self._option_of(letter)): f"{letter} or " for letter in "yn"}
            for number, option in enumerate(self.request.permission_options, 1):
                key = letters.get(id(option), "")
                able = self._gate.armed and not self._gate.refusal(option)
                mark = " (remembered)" if is_permanent(option) else ""
                text.append(f"{key}{number}: {option_words(option)}{mark}\n", "" if able else "dim")
        if text != self._drawn:
            self._drawn = text
            self.query_one("#answers", Static).update(text)


class Asked(Panel):
    """A question, one after the other where there are several."""

    class Answered(Message):
        """The person has answered, or declined."""

        def __init__(self, request: QuestionRequest, answer: Answer) -> None:
            super().__init__()
            self.request = request
            self.answer = answer

    def __init__(self, request: QuestionRequest) -> None:
        super().__init__()
        self.request = request
        self._answers: dict[str, str | list[str]] = {}
        self._chosen: list[str] = []
        self._form = fields_of(request.requested_schema)
        self._given: list[JsonValue] = []
        self._said = ""

    def compose(self) -> ComposeResult:
        """Lay it out: the question with its answers, and a line for one of one's own."""
        with VerticalScroll(id="asked", can_focus=False):
            yield Static(id="question")
        yield Input(placeholder="an answer of your own", id="own")

    def on_mount(self) -> None:
        """Begin to count."""
        self.set_interval(TICK_S, self._tick)
        self.call_after_refresh(self._draw)

    def _tick(self) -> None:
        if self.query("#asked"):
            self._count()

    @property
    def _question(self) -> int:
        return len(self._answers)

    def on_key(self, event: Key) -> None:
        """Take a key that may mean an answer."""
        if not self.has_focus or not self._gate.armed:
            return
        key = event.character or event.key
        questions = self.request.questions or []
        if key == "d":
            self._end(Answer(action="decline"))
        elif (field := self._field) is not None:
            if key.isdecimal() and 1 <= int(key) <= len(field.choices):
                self._fill(field.choices[int(key) - 1][1])
            elif event.key == "enter" and not field.required:
                self._fill(None)
            else:
                return
        elif not questions:
            if key == "y" and self._form is not None:
                filled = zip(self._form, self._given, strict=True)
                self._end(Answer(content={one.name: value for one, value in filled if value is not None}))
            elif key == "y" and self.request.requested_schema is None:
                self._end(Answer(action="accept"))
            return
        elif key.isdecimal() and 1 <= int(key) <= len(questions[self._question].options):
            label = questions[self._question].options[int(key) - 1].label
            if not questions[self._question].multi_select:
                self._give(label)
            elif label in self._chosen:
                self._chosen.remove(label)
            else:
                self._chosen.append(label)
        elif event.key == "enter" and self._chosen:
            self._give(list(self._chosen))
        else:
            return
        event.stop()
        if self.is_attached:
            self._draw()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take an answer of one's own."""
        event.stop()
        questions = self.request.questions or []
        if (field := self._field) is not None and self._gate.armed:
            try:
                value = value_of(field, event.value)
            except ValueError as error:
                self._said = str(error)
                self._draw()
            else:
                event.input.value = ""
                self._fill(value)
        elif event.value.strip() and self._gate.armed and questions:
            multi = questions[self._question].multi_select
            event.input.value = ""
            self._give([*self._chosen, event.value] if multi else event.value)

    @property
    def _field(self) -> Field | None:
        """Return the field that is to be filled in; None if all are, and for what is no form."""
        place = len(self._given)
        return self._form[place] if self._form is not None and place < len(self._form) else None

    def _fill(self, value: JsonValue) -> None:
        self._given.append(value)
        self._said = ""
        self._gate.moved()
        if self._field is None:
            self.focus()
        self._draw()

    def _give(self, answer: str | list[str]) -> None:
        questions = self.request.questions or []
        self._answers[questions[self._question].question] = answer
        self._chosen = []
        self._gate.moved()
        if len(self._answers) == len(questions):
            self._end(Answer(answers=self._answers))
        else:
            self._draw()

    def _end(self, answer: Answer) -> None:
        self._gate.moved()
        self.post_message(self.Answered(self.request, answer))

    def _draw(self) -> None:
        if not self.query("#question"):
            return  # it is being left
        questions = self.request.questions or []
        text = Text()
        if self.request.mcp_server:
            text.append(f"The MCP server {visible_line(self.request.mcp_server)} asks\n", "bold")
        if self.request.message:
            text.append(f"{visible_prose(self.request.message)}\n")
        if self.request.url:
            text.append(f"{ordered(visible_line(self.request.url))}\n")
        if self._form is not None:
            self._draw_form(text, self._form)
        elif self._question < len(questions):
            question = questions[self._question]
            place = f" ({self._question + 1} of {len(questions)})" if len(questions) > 1 else ""
            text.append(f"{visible_prose(question.question)}{place}\n", "bold yellow")
            for number, choice in enumerate(question.options, 1):
                box = ("[x] " if choice.label in self._chosen else "[ ] ") if question.multi_select else ""
                more = f" - {visible_prose(choice.description)}" if choice.description else ""
                text.append(f"{number}: {box}{visible_prose(choice.label)}{more}\n")
            text.append(
                "F2 goes here. d: decline" + ("   Enter: done" if question.multi_select else ""), "dim"
            )
        elif self.request.requested_schema is not None:
            text.append("It is a form: answer it in the browser.   F2, d: decline", "yellow")
        else:
            text.append("F2, y: done   d: decline", "dim")
        self.query_one("#question", Static).update(text)

    def _draw_form(self, text: Text, form: list[Field]) -> None:
        for one, value in zip(form, self._given, strict=False):
            said = "(empty)" if value is None else visible_line(str(value))
            text.append(f"{visible_line(one.title)}: {said}\n", "dim")
        if (field := self._field) is None:
            text.append("F2, y: send it   d: decline", "dim")
            return
        place = f" ({len(self._given) + 1} of {len(form)})" if len(form) > 1 else ""
        text.append(f"{visible_line(field.title)}{place}\n", "bold yellow")
        if field.about:
            text.append(f"{visible_prose(field.about)}\n")
        for number, (label, _) in enumerate(field.choices, 1):
            text.append(f"{number}: {visible_line(label)}\n")
        empty = "" if field.required else "   Enter: leave it empty"
        text.append(f"F2 goes here, Tab to the line below. d: decline{empty}", "dim")
        if self._said:
            text.append(f"\n{self._said}", "yellow")
