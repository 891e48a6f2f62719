"""A session that means harm, kept for every page that shows sessions: markup that ran in somebody's page once, text that
hides or reorders text, a diff of 10,000 lines, and what is merely unusual and must come through whole.
"""

from collections.abc import Iterator

from turnwire.normalize.events import (
    AgentEvent,
    Malformed,
    MessageChunk,
    PermissionOption,
    PermissionRequest,
    ToolCall,
    ToolUpdate,
    TurnStarted,
    Unknown,
    UserMessage,
)
from turnwire.normalize.payloads import GenericPayload, ModifyFilePayload, ShellExecPayload
from turnwire.normalize.payloads.files import ModifyFile, ModifyOutput, Mutation
from turnwire.normalize.payloads.work import Generic, ShellExec, ShellOutput

RUN = "window.harm=1"
MARKUP = f"""<script>{RUN}</script><img src=x onerror="{RUN}"><svg onload="{RUN}"></svg>
<iframe srcdoc="<script>parent.harm=1</script>"></iframe><style>*{{display:none}}</style>
<form action="http://example.invalid"><button>x</button></form><a href="javascript:{RUN}">raw link</a>
<math><mtext><table><mglyph><style><img src=x onerror="{RUN}">

[a](javascript:{RUN}) [b](JaVaScRiPt:{RUN}) [c](data:text/html,<script>{RUN}</script>) [d](vbscript:x)
[e]( javascript:{RUN}) [good](https://example.invalid/page)
![picture](http://example.invalid/spy.png) ![x](javascript:{RUN})
"""
BIDI = "rm -rf \u202ecod.tnatropmi\u202c \u2066hidden\u2069\u200b"
ANSI_BOMB = (
    "\x1b[31m\x1b[42mx\x1b[0m" * 50_000
    + "\x1b]0;title\x07\x1b[2J\x1b[1;1H\x1b]8;;http://example.invalid\x07link\x1b]8;;\x07"
)

EMOJI = "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇳🇴 1️⃣ é ́"
"""Each of several code points that are one picture; the last is an accent on nothing."""

RTL = "שלום עולם! مرحبا بالعالم (1, 2)"

ZALGO = "t" + "\u0335\u0322\u0316" * 200 + "ext"

LINES = 10_000


def unusual() -> Iterator[AgentEvent]:
    """What people and programs write that is not ASCII, and a large change."""
    yield UserMessage(text=f"{RTL}\n{EMOJI}\n{ZALGO}")
    yield MessageChunk(text=f"# {RTL}\n\n{EMOJI}\n\n- {ZALGO}\n", message_id="u1", block_index=0)
    yield from shell("u2", f"echo '{EMOJI}' '{RTL}'", f"{EMOJI}\n{RTL}\n")
    changed = "".join(
        f"-let x{n} = {n};\n+let x{n} = {n + 1}; // {EMOJI if n % 1000 == 0 else n}\n"
        for n in range(LINES // 2)
    )
    edit = ModifyFile(
        file_path="/srv/" + RTL + "/" + EMOJI + ".ts",
        mutations=[Mutation(type="edit", diff=f"@@ -1,{LINES // 2} +1,{LINES // 2} @@\n{changed}")],
        output=ModifyOutput(applied=True),
    )
    payload = ModifyFilePayload(modify_file=edit)
    yield ToolCall(
        tool_call_id="u3", tool_name="Edit", tool_title="Edit", tool_status="running", normalized=payload
    )
    yield ToolUpdate(tool_call_id="u3", tool_name="Edit", tool_status="complete", normalized=payload)


def shell(call: str, command: str, output: str = "") -> list[AgentEvent]:
    """A command and what it printed."""
    before = ShellExecPayload(shell_exec=ShellExec(command=command))
    after = ShellExecPayload(
        shell_exec=ShellExec(command=command, output=ShellOutput(exit_code=0, stdout=output))
    )
    return [
        ToolCall(
            tool_status="running", tool_call_id=call, tool_name="Bash", tool_title=command, normalized=before
        ),
        ToolUpdate(tool_call_id=call, tool_name="Bash", tool_status="complete", normalized=after),
    ]


def harm() -> Iterator[AgentEvent]:
    """Everything that ever ran a script in somebody's page."""
    yield TurnStarted(operation_id="turn-1", origin="user")
    yield UserMessage(text=MARKUP)
    yield MessageChunk(text=MARKUP, message_id="m1", block_index=0)
    yield MessageChunk(text="```html\n" + MARKUP + "\n```", message_id="m1", block_index=1)
    yield MessageChunk(text=f"```<script>{RUN}</script>\ncode\n```", message_id="m1", block_index=2)
    yield from shell("t1", MARKUP, MARKUP)
    yield from shell("t2", BIDI, ANSI_BOMB)
    generic = GenericPayload(generic=Generic(name=MARKUP, input={MARKUP: MARKUP}, output=MARKUP))
    yield ToolCall(
        tool_status="running", tool_call_id="t3", tool_name=MARKUP, tool_title=MARKUP, normalized=generic
    )
    edit = ModifyFile(
        file_path="/srv/" + MARKUP + BIDI + ".html",
        mutations=[Mutation(type="create", content=MARKUP + BIDI)],
    )
    yield ToolUpdate(
        tool_call_id="t4",
        tool_name="Write",
        tool_status="complete",
        normalized=ModifyFilePayload(modify_file=edit),
    )
    yield Unknown(message_type=MARKUP, raw=MARKUP)
    yield Malformed(reason=MARKUP, raw=MARKUP, size=len(MARKUP))
    yield PermissionRequest(
        pending_id="p1",
        permission_title=BIDI,
        permission_options=[PermissionOption(option_id="allow_once", name=MARKUP, kind="allow_once")],
        action_type="command",
        normalized=ShellExecPayload(shell_exec=ShellExec(command=BIDI)),
        tool_input={"command": BIDI},
    )
