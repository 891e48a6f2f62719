"""A small editor in the terminal: the official client of the Agent Client Protocol in front of `turnwire acp`.

    pip install agent-client-protocol rich
    python examples/acp_editor.py 'Make the greeting friendlier' -- turnwire acp --agent demo

Shows what an editor shows: text, thoughts, tool calls with their diffs, the plan, and what it is asked. `--yes` allows
every call once; `--svg FILE` keeps a picture of the terminal.
"""

import argparse
import asyncio
import difflib
import sys
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, spawn_agent_process, text_block
from acp import schema as s
from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

MARKS = {"pending": "…", "in_progress": "▸", "completed": "✓", "failed": "✗"}
BOXES = {"pending": "☐", "in_progress": "▣", "completed": "☑"}


class Editor:
    """What the agent may ask of an editor; see acp.interfaces.Client for all of it."""

    def __init__(self, console: Console, *, yes: bool) -> None:
        self.console = console
        self.yes = yes
        self.titles: dict[str, str] = {}
        self.held: tuple[str, str] = ("", "")

    async def session_update(self, update: Any, **_: Any) -> None:
        """Show what happens."""
        match update:
            case s.AgentMessageChunk(content=s.TextContentBlock(text=text)):
                self.say("message", text)
            case s.AgentThoughtChunk(content=s.TextContentBlock(text=text)):
                self.say("thought", text)
            case s.ToolCallStart() | s.ToolCallProgress():
                self.call(update)
            case s.AgentPlanUpdate(entries=entries):
                self.flush()
                lines = [f"{BOXES[entry.status]} {entry.content}" for entry in entries]
                self.console.print(Panel("\n".join(lines), title="plan", border_style="blue", expand=False))
            case _:
                pass

    async def request_permission(
        self, tool_call: s.ToolCallUpdate, options: list[s.PermissionOption], **_: Any
    ) -> s.RequestPermissionResponse:
        """Ask the human."""
        self.flush()
        lines = [
            f"[bold]{tool_call.title}[/]",
            *(f"  {number} {each.name}" for number, each in enumerate(options, 1)),
        ]
        self.console.print(Panel("\n".join(lines), title="may it?", border_style="yellow", expand=False))
        if self.yes:
            chosen = next(each for each in options if each.kind == "allow_once")
        else:
            chosen = options[int(await asyncio.to_thread(self.console.input, "number: ")) - 1]
        self.console.print(f"[yellow]you:[/] {chosen.name}")
        outcome = s.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return s.RequestPermissionResponse(outcome=outcome)

    def say(self, kind: str, text: str) -> None:
        """Hold text back until all of it is there: Markdown is drawn whole."""
        if self.held[0] != kind:
            self.flush()
        self.held = (kind, self.held[1] + text)

    def flush(self) -> None:
        """Draw the text that was held back."""
        kind, text = self.held
        self.held = ("", "")
        if text.strip():
            self.console.print(
                Markdown(text) if kind == "message" else Text(text.strip(), style="italic dim")
            )

    def call(self, update: Any) -> None:
        """Draw a tool call: one line, and the change that it makes once it is made."""
        self.flush()
        title = self.titles[update.tool_call_id] = update.title or self.titles.get(update.tool_call_id, "")
        if update.status in {"completed", "failed"}:
            colour = "green" if update.status == "completed" else "red"
            self.console.print(f"[{colour}]{MARKS[update.status]}[/] [bold]{title}[/]", highlight=False)
            for content in update.content or []:
                if isinstance(content, s.FileEditToolCallContent):
                    self.console.print(Padding(diff(content), (0, 0, 0, 2)))


def diff(change: s.FileEditToolCallContent) -> Text:
    """Return a change as coloured lines."""
    colours = {"+": "green", "-": "red"}
    old, new = (change.old_text or "").splitlines(), change.new_text.splitlines()
    lines = list(difflib.unified_diff(old, new, lineterm=""))[3:]
    return Text("\n").join(Text(line, style=colours.get(line[:1], "dim")) for line in lines)


async def main() -> None:
    """Start the agent, say something, and show what comes of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("prompt")
    parser.add_argument("--yes", action="store_true")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("command", nargs="*", default=["turnwire", "acp", "--agent", "demo"])
    options = parser.parse_args()
    console = Console(record=True, width=100, force_terminal=options.svg is not None)
    editor: Any = Editor(console, yes=options.yes)
    async with spawn_agent_process(
        editor, *options.command, transport_kwargs={"limit": 1 << 25, "stderr": sys.stderr}
    ) as (agent, _):
        await agent.initialize(protocol_version=PROTOCOL_VERSION)
        session = (await agent.new_session(cwd=str(Path.cwd()), mcp_servers=[])).session_id
        console.print(f"[bold blue]>[/] {options.prompt}")
        reply = await agent.prompt(session_id=session, prompt=[text_block(options.prompt)])
        editor.flush()
        used = "" if reply.usage is None else f", {reply.usage.total_tokens} tokens"
        console.print(f"[dim]{reply.stop_reason}{used}[/]")
    if options.svg is not None:
        console.save_svg(str(options.svg), title="an editor in front of turnwire acp")


asyncio.run(main())
