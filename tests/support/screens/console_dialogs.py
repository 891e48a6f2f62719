"""What a session asks a person, and what the console asks before it does something: how each is opened, for walks through all."""

from collections.abc import Awaitable, Callable, Sequence

from playwright.async_api import Page, expect

from console_decisions import OPTIONS, command
from console_page import go_to
from console_states import HubHarness, entries, made, show
from console_views import SEND, Scheme, at_each_size
from turnwire.normalize.events import (
    AgentEvent,
    AgentPlan,
    PermissionRequest,
    QuestionRequest,
    Queued,
    SessionInfo,
    SessionMode,
    ToolCall,
    TurnStarted,
    UserMessage,
)
from turnwire.normalize.events.session_events import Model
from turnwire.normalize.payloads import ShowPlanPayload
from turnwire.normalize.payloads.work import Choice, Question, ShowPlan, TodoItem

Open = Callable[[Page], Awaitable[None]]
"""Opens a view, or goes on from the one before."""

LANGUAGES = Question(
    question="In which languages should the shop greet people who come for the first time?",
    header="Languages",
    multi_select=True,
    options=[
        Choice(label="English", description="As everywhere else"),
        Choice(label="Donaudampfschifffahrtsgesellschaftsdeutsch", description="Long words are usual there"),
        Choice(label="עברית"),
    ],
)
COLOUR = Question(
    question="Which colour should the button have?",
    header="Colour",
    multi_select=False,
    options=[Choice(label="Blue", description="As the other buttons"), Choice(label="Red")],
)
SCHEMA = {
    "type": "object",
    "required": ["name", "size"],
    "properties": {
        "name": {"type": "string", "title": "Name", "description": "As it stands on the sign of the shop"},
        "size": {"type": "string", "title": "Size", "enum": ["small", "large"]},
        "seats": {"type": "integer", "title": "Seats"},
        "open": {"type": "boolean", "title": "Open on Sundays", "description": "From nine to twelve"},
    },
}
STEPS = [
    "Read the page and all its tests",
    "Add a greeting to src/shop/components/greeting_component.py",
    "Run them",
]


def asks_for_plan(plan: str | None) -> PermissionRequest:
    return PermissionRequest(
        pending_id="plan",
        permission_title="ExitPlanMode",
        permission_options=[OPTIONS[0], OPTIONS[-1]],
        action_type="other",
        tool_call_id="planned",
        tool_name="ExitPlanMode",
        normalized=ShowPlanPayload(show_plan=ShowPlan(operation="exit", plan=plan)),
    )


REQUESTS: dict[str, list[AgentEvent]] = {
    "a permission to remember": [command("remembered")],
    "a question": [QuestionRequest(pending_id="one", kind="ask_user", questions=[COLOUR])],
    "questions": [QuestionRequest(pending_id="several", kind="ask_user", questions=[COLOUR, LANGUAGES])],
    "a form": [
        QuestionRequest(
            pending_id="form",
            kind="elicitation",
            mode="form",
            mcp_server="shop",
            message="A few things about the shop",
            requested_schema=SCHEMA,
        )
    ],
    "an address": [
        QuestionRequest(
            pending_id="address",
            kind="elicitation",
            mode="url",
            mcp_server="shop",
            message="Log in to the shop",
            url="https://example.org/log-in?" + "and=so-on&" * 20,
        )
    ],
    "a plan": [
        asks_for_plan("# The plan\n\n" + "".join(f"{n}. {one}\n" for n, one in enumerate(STEPS * 9, 1)))
    ],
    "a plan of entries": [
        ToolCall(
            tool_call_id="planned",
            tool_name="ExitPlanMode",
            tool_title="Plan",
            tool_status="running",
            normalized=ShowPlanPayload(show_plan=ShowPlan(operation="exit")),
        ),
        AgentPlan(
            tool_call_id="planned",
            plan_content="\n".join(f"- [ ] {one}" for one in STEPS),
            items=[
                TodoItem(description=one, status=status)
                for one, status in zip(STEPS, ("completed", "in_progress", "pending"), strict=True)
            ],
        ),
        asks_for_plan(None),
    ],
}
"""What may be asked, by the name of its session."""

AGENT: list[AgentEvent] = [
    SessionInfo(
        model="large",
        models=[
            Model(id="large", name="The large model, which thinks for a long time"),
            Model(id="small", name="Small"),
        ],
    ),
    SessionMode(current_mode_id="default"),
]
"""What an agent says of itself at first: its models and its mode."""

QUEUE: list[AgentEvent] = [
    UserMessage(uuid="first", text="Make a shop"),
    TurnStarted(origin="user", prompts=["first"]),
    *(
        event
        for number, text in enumerate(("And a greeting", "And a button " + "that is blue " * 20), 1)
        for event in (
            UserMessage(uuid=f"waits {number}", text=text),
            Queued(prompt=f"waits {number}", position=number),
        )
    ),
]
"""A turn that runs, and two prompts that wait."""

ABILITIES = {
    **dict.fromkeys(("resume", "rewind", "fork", "interrupt", "withdraw", "set_model", "images"), True),
    "modes": ["default", "acceptEdits", "plan", "bypassPermissions", "an-agents-own-mode"],
}


async def put_into(where: HubHarness) -> None:
    """Put a session for each request into a hub, and two more: `idle`, which asks nothing, and `queue`."""
    options = {"abilities": ABILITIES, "workspace": "/home/ada/greeting"}
    for name, events in REQUESTS.items():
        told = [*entries("tool-bash"), *made([*AGENT, *events])]
        await show(where, name, told, state="waiting", pending=1, **options)
    await show(where, "queue", made([*AGENT, *QUEUE]), state="running", **options)
    # A message to go back to is one that follows a turn.
    again = UserMessage(uuid="again", text="Once more")
    await show(where, "idle", [*entries("tool-bash"), *made([*AGENT, again])], **options)


def shown(session: str, *, waits: bool = False) -> Open:
    """Go to a session that put_into has made."""

    async def open_it(page: Page) -> None:
        await go_to(page, f"#/s/{session.replace(' ', '%20')}")
        await expect(page.locator(".session-head h1")).to_have_text(session)
        await expect(page.locator(".request-form" if waits else ".row").first).to_be_visible()

    return open_it


def pressed(name: str, within: str, then: str) -> Open:
    """Press a button, once it can be, and wait for what takes its place: there the keyboard goes on."""

    async def press(page: Page) -> None:
        await page.locator(within).get_by_role("button", name=name).click()
        await expect(page.locator(within).get_by_text(then)).to_be_visible()
        await expect(page.locator(f"{within}:focus-within")).to_have_count(1)

    return press


async def remembering(page: Page) -> None:
    await pressed("Always …", ".request", "Which answer should be remembered?")(page)
    await page.locator(".remember .choice").last.click()
    await expect(page.get_by_role("button", name="Allow, and remember it")).to_be_visible()


async def answered(page: Page) -> None:
    await page.get_by_label("Blue").check()
    await page.locator(".request").get_by_label("English").check()
    await page.get_by_label("Another answer").last.fill("Latin")


async def less_after_the_plan(page: Page) -> None:
    await page.get_by_label("Permissions while it is carried out:").select_option("bypassPermissions")
    await expect(page.get_by_text("Yes, I want this.")).to_be_visible()


async def mode_menu(page: Page) -> None:
    await shown("idle")(page)
    await page.locator(".mode-picker summary").click()
    await expect(page.locator(".mode-menu")).to_be_visible()


async def model_menu(page: Page) -> None:
    await page.keyboard.press("Escape")
    await expect(page.locator(".mode-menu")).to_be_hidden()
    model = page.get_by_label("Model", exact=True)
    await model.click()
    await expect(model.locator("option")).to_have_count(2)
    await expect(model).to_be_focused()


async def from_here(page: Page) -> None:
    await shown("idle")(page)
    summary = page.get_by_text("From here …").first
    await summary.scroll_into_view_if_needed()
    await summary.click()
    await expect(page.get_by_role("button", name="Fork from here")).to_be_visible()


async def stopping(page: Page) -> None:
    await page.locator(".stop").click()
    await expect(page.get_by_role("dialog", name="Stop the turn")).to_be_visible()


async def deletion(page: Page) -> None:
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.get_by_role("button", name="Inspector", exact=True).click()
    await page.get_by_role("tab", name="Session", exact=True).click()
    await pressed("Delete", ".inspector-body", "Forget this session and all its events?")(page)


ASKED = f"{SEND}, .request-foot button"
VIEWS: dict[str, tuple[Open, str]] = {
    "a permission to remember": (shown("a permission to remember", waits=True), ASKED),
    "what is remembered": (remembering, ASKED),
    "a question": (shown("a question", waits=True), ASKED),
    "questions": (shown("questions", waits=True), ASKED),
    "answered questions": (answered, f"{ASKED}, .request-body :is(.choice, input)"),
    "a form": (shown("a form", waits=True), f"{ASKED}, .request-body :is(.choice, input, select)"),
    "an address": (shown("an address", waits=True), ASKED),
    "a plan": (shown("a plan", waits=True), ASKED),
    "less after the plan": (less_after_the_plan, f"{ASKED}, .request-foot :is(select, .wrong)"),
    "a plan of entries": (shown("a plan of entries", waits=True), ASKED),
    "mode menu": (mode_menu, ".mode-menu button"),
    "a mode that asks less": (
        pressed("Ask nothing", ".mode-menu", "It holds until you change it."),
        ".mode-menu button",
    ),
    "model menu": (model_menu, f"{SEND}, .picker"),
    "from here": (from_here, f"{SEND}, .from-here button"),
    "back to here": (
        pressed("Go back to here", ".from-here[open]", "the agent knows it no more"),
        f"{SEND}, .from-here button",
    ),
    "queue": (shown("queue"), f"{SEND}, .stop, .priority, .queue button"),
    "stop": (stopping, ".modal button"),
    "delete": (deletion, ".inspector-body .buttons button"),
}
"""How each is opened, in this order, and what of it must be within reach."""


async def every_dialog(page: Page, sizes: Sequence[tuple[int, int]], schemes: Sequence[Scheme]) -> list[str]:
    """Walk through all that is asked in a hub that `put_into` has filled; returns what is wrong with any of it."""
    wrong: list[str] = []
    for view, (open_it, reach) in VIEWS.items():
        await open_it(page)
        wrong += await at_each_size(page, view, sizes, schemes, reach)
    return wrong
