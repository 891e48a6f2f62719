"""How a session with an agent begins: `initialize`, then a new conversation or an old one, with the session's MCP servers.

An agent's abilities are read here once, into `AgentFacts`. It cannot do what it leaves out. Nothing here waits for
ever: each request has a deadline. An agent that needs a login first raises LoginNeeded, because only a human can
help.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from turnwire.adapter.acp.asking import OfferedMode
from turnwire.adapter.acp.client import AcpClient, AgentError
from turnwire.adapter.capabilities import Capabilities
from turnwire.adapter.session.agent import RequestFailed
from turnwire.normalize.acp.agents import agent_info
from turnwire.normalize.payloads.fields import fields, objects
from turnwire.protocol.json_values import Json, JsonObject, text_at

FIRST, LATEST = 1, 2
"""The protocol's versions that are spoken here."""

LOGIN_NEEDED = -32000
"""The protocol's error of an agent that wants a login first."""

_SHOWN = 20
"""Modes, models and methods that an error names, at most."""


class LoginNeeded(RequestFailed):
    """The agent opens no session before a human has logged in."""


class Choice(Struct, frozen=True):
    """Something to choose from, such as the models: how it is set, what is on offer, and what is set now."""

    method: str
    """The request that sets it."""
    param: str
    """Its parameter that names the choice."""
    options: tuple[str, ...]
    """What may be chosen."""
    current: str | None = None
    """What is chosen."""
    config_id: str | None = None
    """The option's id, where it is one of the session's configuration."""
    effort_of: str | None = None
    """The model whose effort it is, where that is set with the model (Grok)."""
    is_typed: bool = False
    """Version 2: what sets it names the type of the value."""

    def params(self, session_id: str, value: str) -> JsonObject:
        """Return the parameters that choose a value."""
        chosen: JsonObject = {"sessionId": session_id, self.param: value}
        if self.effort_of is not None:
            return {
                "sessionId": session_id,
                self.param: self.effort_of,
                "_meta": {"reasoningEffort": value},
            }
        if self.config_id is None:
            return chosen
        return {**chosen, "configId": self.config_id, **({"type": "id"} if self.is_typed else {})}


class AgentFacts(Struct, frozen=True):
    """What an agent says of itself when it is initialised."""

    version: int
    """The protocol's version it speaks."""
    name: str = ""
    """What it is called."""
    own_name: str = ""
    """What it calls itself among programs."""
    release: str | None = None
    """Its own version."""
    loads: bool = False
    """It can go on with a conversation, which it tells again."""
    resumes: bool = False
    """It can go on with a conversation without telling it again."""
    lists: bool = False
    """It tells which conversations it keeps."""
    forks: bool = False
    """It can branch a conversation off."""
    closes: bool = False
    """It accepts a message that a conversation is over."""
    more_folders: bool = False
    """It accepts folders other than the workspace."""
    images: bool = False
    """Prompts may have images."""
    mcp: frozenset[str] = frozenset({"stdio"})
    """Kinds of MCP servers it connects to."""
    logins: tuple[str, ...] = ()
    """Ways to log in, as it names them."""


class Conversation(Struct, frozen=True):
    """A conversation with an agent that is open."""

    session_id: str
    """The agent's name for it."""
    modes: Choice | None = None
    """Its modes; None when it has none."""
    models: Choice | None = None
    """Its models; None when none can be chosen."""
    options: Mapping[str, Choice] = field(default_factory=dict)
    """The rest of its configuration, by id."""
    offered: Sequence[OfferedMode] = ()
    """Its modes, with what it says of each."""


class ConversationStart(Struct, frozen=True, kw_only=True):
    """What a conversation is to be."""

    workspace: Path
    resume: str | None = None
    """The agent's session id to go on with; None for a new conversation."""
    fork: bool = False
    """Go on under a new session id."""
    replay_history: bool = False
    """Tell the conversation again, where the agent can: the log has it not."""
    servers: Mapping[str, JsonObject] = field(default_factory=dict)
    """MCP servers by name: {command, args, env}, or {type, url, headers}."""
    folders: Sequence[str] = ()
    """Folders other than the workspace."""


BEFORE = Capabilities(
    resumes=True,
    says_whether_it_resumes=True,
    keeps_session_id=True,
    forks=True,
    interrupts=True,
    withdraws_prompts=True,
    models=True,
    names_modes=True,
    policies=True,
    hooks=True,
    hosts_servers=True,
    mcp_servers=True,
    images=True,
    options=frozenset({"add_dirs"}),
)
"""What an agent may be able to do; which of it one can is known once it is initialised."""


def capabilities(
    facts: AgentFacts, conversation: Conversation, never_asks: Sequence[str] = ()
) -> Capabilities:
    """Return what an agent can do; `never_asks`: what it does without asking."""
    return replace(
        BEFORE,
        resumes=facts.loads or facts.resumes,
        forks=facts.forks,
        models=conversation.models is not None,
        permission_modes=() if conversation.modes is None else conversation.modes.options,
        names_modes=False,
        images=facts.images,
        never_asks=tuple(never_asks),
        options=BEFORE.options if facts.more_folders else frozenset(),
    )


def client_capabilities(*, reads: bool, writes: bool, terminals: bool) -> JsonObject:
    """Return the abilities of turnwire as a client, for the agent."""
    return {
        "fs": {"readTextFile": reads, "writeTextFile": writes},
        "terminal": terminals,
        "elicitation": {"form": {}, "url": {}},
        # Cursor lists models and their options apart for who says so, and else every combination of them as a model
        "_meta": {"parameterizedModelPicker": True},
    }


async def initialize(
    client: AcpClient, capabilities: JsonObject, release: str, deadline: float, *, latest: int = LATEST
) -> AgentFacts:
    """Introduce ourselves and return what the agent says of itself; raises as `AcpClient.request` does, and RequestFailed.

    `latest`: the version to offer. An agent that refuses to hear of version 2 is asked again, for version 1.
    """
    info: JsonObject = {"name": "turnwire", "title": "turnwire", "version": release}
    asked: JsonObject = {"protocolVersion": latest, "clientCapabilities": capabilities, "clientInfo": info}
    if latest > FIRST:
        able = {name: value for name, value in capabilities.items() if name in ("elicitation", "_meta")}
        asked |= {"info": info, "capabilities": able}
    try:
        said = await client.request("initialize", asked, deadline)
    except AgentError:
        if latest == FIRST:
            raise
        return await initialize(client, capabilities, release, deadline, latest=FIRST)
    facts = read_facts(said)
    if not FIRST <= facts.version <= latest:
        raise RequestFailed(
            f"the agent speaks version {facts.version} of the Agent Client Protocol, and turnwire {FIRST} to {latest}; "
            "take a version of the agent that speaks one of these"
        )
    return facts


def read_facts(said: Json) -> AgentFacts:
    """Return what an answer to `initialize` says; what is missing or of another shape cannot be done."""
    said = fields(said)
    version = said.get("protocolVersion")
    if version == LATEST and fields(said.get("capabilities")):
        return _read_latest(said)
    info, able = agent_info(said), fields(said.get("agentCapabilities"))
    session, prompts, mcp = (
        fields(able.get(name)) for name in ("sessionCapabilities", "promptCapabilities", "mcpCapabilities")
    )
    return AgentFacts(
        # an agent that does not say, or repeats what it was offered, speaks the version whose words it uses
        version=version if isinstance(version, int) and version != LATEST else FIRST,
        name=text_at(info, "title") or text_at(info, "name"),
        own_name=text_at(info, "name"),
        release=text_at(info, "version") or None,
        loads=able.get("loadSession") is True,
        resumes=isinstance(session.get("resume"), dict),
        lists=isinstance(session.get("list"), dict),
        forks=isinstance(session.get("fork"), dict),
        closes=isinstance(session.get("close"), dict),
        more_folders=isinstance(session.get("additionalDirectories"), dict),
        images=prompts.get("image") is True,
        mcp=frozenset({"stdio", *(kind for kind in ("http", "sse") if mcp.get(kind) is True)}),
        logins=_logins(said),
    )


def _read_latest(said: JsonObject) -> AgentFacts:
    """Read what an agent of version 2 says: one that has sessions goes on with them, lists and closes them."""
    info, able = agent_info(said), fields(said.get("capabilities"))
    session = fields(able.get("session"))
    prompts, mcp = fields(session.get("prompt")), fields(session.get("mcp"))
    has_sessions = isinstance(able.get("session"), dict)
    return AgentFacts(
        version=LATEST,
        name=text_at(info, "title") or text_at(info, "name"),
        own_name=text_at(info, "name"),
        release=text_at(info, "version") or None,
        resumes=has_sessions,
        lists=has_sessions,
        forks=isinstance(session.get("fork"), dict),
        closes=has_sessions,
        more_folders=isinstance(session.get("additionalDirectories"), dict),
        images=isinstance(prompts.get("image"), dict),
        mcp=frozenset(kind for kind in ("stdio", "http") if isinstance(mcp.get(kind), dict)),
        logins=_logins(said),
    )


def _logins(said: JsonObject) -> tuple[str, ...]:
    return tuple(
        text_at(method, "name") or text_at(method, "id") or text_at(method, "methodId")
        for method in objects(said, "authMethods")
    )


async def converse(
    client: AcpClient, facts: AgentFacts, wanted: ConversationStart, deadline: float
) -> Conversation:
    """Open a conversation, new or old; raises LoginNeeded, RequestFailed, and what `AcpClient.request` does."""
    params: JsonObject = {
        "cwd": str(wanted.workspace),
        "mcpServers": [
            server_of(name, server, is_typed=facts.version == LATEST)
            for name, server in wanted.servers.items()
        ],
    }
    if wanted.folders:
        params["additionalDirectories"] = list(wanted.folders)
    method = _method(facts, wanted)
    if wanted.resume is not None:
        params = {"sessionId": wanted.resume, **params}
    if wanted.resume is not None and facts.version == LATEST and wanted.replay_history:
        params["replayFrom"] = {"type": "start"}
    try:
        said = await client.request(method, params, deadline)
    except AgentError as error:
        if error.code != LOGIN_NEEDED:
            raise
        ways = f" (it offers: {', '.join(facts.logins[:_SHOWN])})" if facts.logins else ""
        raise LoginNeeded(
            f"{facts.name or 'the agent'} needs a login first: {error.text}. Log in with the agent's own program{ways}, "
            "or give it a key in its environment, then prompt again"
        ) from None
    resumed = None if wanted.fork else wanted.resume
    session_id = resumed or text_at(said, "sessionId")
    if not session_id:
        raise RequestFailed(f"the agent answered {method} without a sessionId")
    return read_conversation(session_id, said)


def _method(facts: AgentFacts, wanted: ConversationStart) -> str:
    if wanted.resume is None:
        return "session/new"
    who = facts.name or "the agent"
    if wanted.fork:
        if not facts.forks:
            raise RequestFailed(f"{who} cannot branch off a conversation; start a new session")
        return "session/fork"
    if facts.resumes and not (wanted.replay_history and facts.loads):
        return "session/resume"
    if facts.loads:
        return "session/load"
    raise RequestFailed(f"{who} cannot go on with an earlier conversation; start a new session")


def read_conversation(session_id: str, said: Json) -> Conversation:
    """Return what the answer to session/new, load, resume or fork says can be chosen."""
    said = fields(said)
    configured = [(name, option) for option in objects(said, "configOptions") if (name := _id(option))]
    options = {
        name: Choice(
            "session/set_config_option",
            "value",
            tuple(_values(option.get("options"))),
            text_at(option, "currentValue") or None,
            name,
            is_typed="configId" in option,
        )
        for name, option in configured
    }
    # an option that is called as its category goes before others of it: Nanocoder has its provider among models
    by_category = {
        text_at(option, "category"): name
        for name, option in sorted(configured, key=lambda one: one[0] == text_at(one[1], "category"))
    }
    modes = _modes(fields(said.get("modes")))
    mode_option = next(
        (option for option in objects(said, "configOptions") if text_at(option, "category") == "mode"), None
    )
    return Conversation(
        session_id,
        modes=modes or options.get(by_category.get("mode", "")),
        offered=_offered(objects(fields(said.get("modes")), "availableModes"), "id")
        if modes
        else _offered(objects(mode_option or {}, "options"), "value"),
        models=options.get(by_category.get("model", "")) or _models(fields(said.get("models"))),
        options={**_effort(fields(said.get("models"))), **options},
    )


def server_of(name: str, server: JsonObject, *, is_typed: bool = False) -> JsonObject:
    """Return an MCP server of a session as the protocol wants it named; `kind_of` tells which kind it is.

    `is_typed`: version 2 wants the kind stdio named, too.
    """
    match kind_of(server):
        case "stdio":
            return {
                **({"type": "stdio"} if is_typed else {}),
                "name": name,
                "command": text_at(server, "command"),
                "args": [str(argument) for argument in server.get("args") or []],
                "env": _pairs(server.get("env")),
            }
        case kind:
            return {
                "type": kind,
                "name": name,
                "url": text_at(server, "url"),
                "headers": _pairs(server.get("headers")),
            }


def kind_of(server: JsonObject) -> str:
    """Return how an MCP server is reached: stdio, http, sse, or another word of its configuration."""
    return text_at(server, "type") or ("http" if "url" in server else "stdio")


def _id(option: JsonObject) -> str:
    """Return the id of a config option, in either version."""
    return text_at(option, "id") or text_at(option, "configId")


def named(options: Sequence[str]) -> str:
    """Return what can be chosen, for an error."""
    rest = len(options) - _SHOWN
    return ", ".join(options[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def _modes(found: JsonObject) -> Choice | None:
    options = tuple(filter(None, (text_at(mode, "id") for mode in objects(found, "availableModes"))))
    current = text_at(found, "currentModeId") or None
    return Choice("session/set_mode", "modeId", options, current) if options else None


def _offered(modes: Sequence[JsonObject], name: str) -> tuple[OfferedMode, ...]:
    return tuple(
        OfferedMode(text_at(mode, name), f"{text_at(mode, 'name')} {text_at(mode, 'description')}")
        for mode in modes
        if text_at(mode, name)
    )


def _models(found: JsonObject) -> Choice | None:
    options = tuple(filter(None, (text_at(model, "modelId") for model in objects(found, "availableModels"))))
    current = text_at(found, "currentModelId") or None
    return Choice("session/set_model", "modelId", options, current) if options else None


def _effort(found: JsonObject) -> dict[str, Choice]:
    """Return the efforts of the model in use, where the agent names them beside the model."""
    current = text_at(found, "currentModelId")
    for model in objects(found, "availableModels"):
        about = fields(model.get("_meta"))
        options = tuple(_values(about.get("reasoningEfforts")))
        if text_at(model, "modelId") == current and options:
            now = text_at(about, "reasoningEffort") or None
            return {"effort": Choice("session/set_model", "modelId", options, now, effort_of=current)}
    return {}


def _values(options: Json) -> list[str]:
    """The values of a select, in groups or not."""
    values: list[str] = []
    for option in options if isinstance(options, list) else []:
        if isinstance(option, dict) and isinstance(option.get("options"), list):
            values += [text_at(inner, "value") for inner in option["options"]]
        else:
            values.append(text_at(option, "value"))
    return [value for value in values if value]


def _pairs(table: Json) -> list[Json]:
    return [{"name": name, "value": str(value)} for name, value in fields(table).items()]
