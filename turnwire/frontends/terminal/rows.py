"""Widgets of the conversation: one for each row."""

from typing import ClassVar

from rich.console import Group, RenderableType
from rich.markdown import Markdown as RichMarkdown
from rich.syntax import Syntax
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Markdown, Static

from .conversation import Row
from .showing import Part, body, head
from .spelling import ordered, visible_line, visible_prose

LINES = 2000
"""Lines of a part that are drawn below a call; what is to be decided is always drawn whole."""

HIGHLIGHTED = 200
"""Lines up to which code is highlighted."""

_STYLES = {
    "complete": "green",
    "error": "red",
    "waiting": "bold yellow",
    "interrupted": "yellow",
    "warning": "yellow",
    "withdrawn": "strike",
}


def _attached(row: Row) -> str:
    return f"[{', '.join(ordered(visible_line(name)) for name in row.attached)}]"


class Said(Static):
    """What the agent has said: one widget, however many paragraphs."""

    def __init__(self, row: Row) -> None:
        super().__init__(self._drawn(row), classes=f"row {row.kind} depth{row.depth}")

    async def change(self, row: Row) -> None:
        """Show the row as it is now."""
        self.update(self._drawn(row))

    @staticmethod
    def _drawn(row: Row) -> RenderableType:
        attached = [Text(_attached(row), "dim")] if row.attached else []
        return Group(RichMarkdown(visible_prose(row.text), hyperlinks=False), *attached)


class Words(Markdown):
    """What the agent is saying: a piece more costs that piece alone. Once it is whole, `Said` takes its place."""

    def __init__(self, row: Row) -> None:
        self._shown = visible_prose(row.text)
        super().__init__(self._shown, classes=f"row {row.kind} depth{row.depth}", open_links=False)

    async def change(self, row: Row) -> None:
        """Show the row as it is now."""
        shown = visible_prose(row.text)
        before, self._shown = self._shown, shown
        if shown == before:
            return
        if shown.startswith(before) and before:
            await self.append(shown[len(before) :])
        else:
            await self.update(shown)


class Line(Static):
    """A prompt, a notice, the end of a turn."""

    def __init__(self, row: Row) -> None:
        super().__init__(self._text(row), classes=f"row {row.kind} depth{row.depth}")

    async def change(self, row: Row) -> None:
        """Show the row as it is now."""
        self.update(self._text(row))

    @staticmethod
    def _text(row: Row) -> Text:
        if row.kind == "prompt":
            attached = f"  {_attached(row)}" if row.attached else ""
            withdrawn = "  (withdrawn)" if row.status == "withdrawn" else ""
            return Text(f"> {visible_prose(row.text)}{attached}{withdrawn}", _STYLES.get(row.status, ""))
        return Text(head(row), _STYLES.get(row.status, ""))


class Folded(Static, can_focus=True):
    """A call or a thought: one line, with the rest below it once it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "unfold", "open or fold")]

    def __init__(self, row: Row) -> None:
        self._row = row
        self.opened = False
        super().__init__(self._drawn(), classes=f"row {row.kind} depth{row.depth}")

    async def change(self, row: Row) -> None:
        """Show the row as it is now."""
        self._row = row
        self.update(self._drawn())

    def action_unfold(self) -> None:
        """Open or fold it."""
        self.open(not self.opened)

    def on_click(self) -> None:
        """Do the same by the mouse."""
        self.action_unfold()

    def open(self, opened: bool) -> None:
        """Open or fold it."""
        self.opened = opened
        self.update(self._drawn())

    def _drawn(self) -> RenderableType:
        row = self._row
        line = Text(head(row), _STYLES.get(row.status, ""))
        if not self.opened:
            return line
        if row.kind == "thinking":
            return Group(Text("Thinking"), Text(visible_prose(row.text)))
        return Group(line, *(drawn(part, LINES) for part in body(row)))


RowWidget = Said | Words | Line | Folded


def widget_of(row: Row) -> RowWidget:
    """Return the widget that shows a row."""
    match row.kind:
        case "text" | "plan":
            return Words(row) if row.open else Said(row)
        case "call" | "thinking":
            return Folded(row)
        case _:
            return Line(row)


def forget_lines(widget: RowWidget) -> None:
    """Forget what was drawn of a widget that is to be removed: Textual 8.2 keeps the lines of the last thousand."""
    for one in (widget, *widget.walk_children(Widget)):
        one.refresh()


def drawn(part: Part, most: int | None = None) -> RenderableType:
    """Return a part in colour, its lines wrapped and none left out but beyond `most`, which is said."""
    lines = part.text.split("\n")
    left_out = 0 if most is None else max(0, len(lines) - most)
    if left_out:
        lines = lines[:most]
    if part.language == "diff":
        text = Text()
        for line in lines:
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")
            text.append(f"{line}\n", style)
        text.right_crop(1)
        shown: RenderableType = text
    elif part.language in {"bash", "json"} and len(lines) <= HIGHLIGHTED:
        shown = Syntax(
            "\n".join(lines), part.language, word_wrap=True, background_color="default", theme="ansi_dark"
        )
    else:
        shown = Text("\n".join(lines))
    return Group(shown, Text(f"[{left_out} more lines]", "yellow")) if left_out else shown


def foldable(widget: Widget | None) -> Folded | None:
    """Return a widget if it can be opened."""
    return widget if isinstance(widget, Folded) else None
