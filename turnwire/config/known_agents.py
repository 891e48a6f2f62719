"""The agents that turnwire knows by name: one table of how each is started, looked at, logged into and installed.

What is found out about an agent goes here and nowhere else; docs/agents.md says what works with each. The facts are from
trying the versions named there.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

Family: TypeAlias = str
"""What agents speak: claude (Claude Code's stream-json), qwen (the same as Qwen Code has it), acp (the Agent Client Protocol), or the
name of a family that another distribution registers."""


class KnownAgent(Struct, frozen=True, kw_only=True):
    """What turnwire knows of an agent before it starts it."""

    title: str
    """What humans call it."""
    family: Family
    """What it speaks when it is started so."""
    command: tuple[str, ...]
    """Program, and the arguments that make it speak its family's wire."""
    install: str
    """The command that installs it."""
    log_in: str
    """How somebody logs in."""
    keys: tuple[str, ...] = ()
    """Variables of the environment that log in by themselves."""
    logins: tuple[str, ...] = ()
    """Files below HOME that a login leaves behind. Some keep logins in the system's keychain, where nothing is looked for."""
    variables: tuple[str, ...] = ()
    """Names of variables, with wildcards, that it gets from turnwire's environment beside the usual ones."""
    also: tuple[str, ...] = ()
    """Places below HOME where its own installer puts the program, which PATH may not name."""
    node: int | None = None
    """The oldest Node.js that runs it, where it needs one."""

    @property
    def program(self) -> str:
        """The program's name."""
        return self.command[0]


KNOWN: Mapping[str, KnownAgent] = {
    "claude": KnownAgent(
        title="Claude Code",
        family="claude",
        command=("claude",),
        install="npm install -g @anthropic-ai/claude-code",
        log_in="claude, then /login",
        keys=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
        logins=(".claude/.credentials.json",),
        also=(".local/bin/claude", ".claude/local/claude"),
    ),
    "codex": KnownAgent(
        title="Codex",
        family="acp",
        command=("codex-acp",),
        install="npm install -g @agentclientprotocol/codex-acp",
        log_in="codex login",
        keys=("CODEX_API_KEY", "OPENAI_API_KEY"),
        logins=(".codex/auth.json",),
        variables=("CODEX_*", "OPENAI_*"),
        node=22,
    ),
    "copilot": KnownAgent(
        title="GitHub Copilot CLI",
        family="acp",
        command=("copilot", "--acp"),
        install="npm install -g @github/copilot",
        log_in="copilot login",
        keys=("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_API_KEY"),
        logins=(".copilot/config.json",),
        variables=("COPILOT_*", "GH_*", "GITHUB_TOKEN"),
    ),
    "droid": KnownAgent(
        title="Factory Droid",
        family="acp",
        command=("droid", "exec", "--output-format", "acp"),
        install="npm install -g droid",
        log_in="droid, then /login",
        keys=("FACTORY_API_KEY",),
        logins=(".factory/auth.json", ".factory/auth.encrypted", ".factory/auth.v2.file"),
        variables=("FACTORY_*",),
        also=(".local/bin/droid",),
    ),
    "gemini": KnownAgent(
        title="Gemini CLI",
        family="acp",
        command=("gemini", "--acp"),
        install="npm install -g @google/gemini-cli",
        log_in="gemini, then /auth",
        keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        logins=(".gemini/oauth_creds.json",),
        variables=("GEMINI_*",),
        node=20,
    ),
    "kimi": KnownAgent(
        title="Kimi Code",
        family="acp",
        command=("kimi", "acp"),
        install="npm install -g @moonshot-ai/kimi-code",
        log_in="kimi login",
        keys=("KIMI_API_KEY", "MOONSHOT_API_KEY"),
        logins=(".kimi-code/credentials",),
        variables=("KIMI_*", "MOONSHOT_*"),
        node=22,
    ),
    "opencode": KnownAgent(
        title="OpenCode",
        family="acp",
        command=("opencode", "acp"),
        install="npm install -g opencode-ai",
        log_in="opencode auth login",
        keys=("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
        logins=(".local/share/opencode/auth.json",),
        variables=("OPENCODE_*", "OPENAI_*", "OPENROUTER_*", "GEMINI_API_KEY"),
        also=(".opencode/bin/opencode",),
    ),
    "qwen": KnownAgent(
        title="Qwen Code",
        family="qwen",
        command=("qwen",),
        install="npm install -g @qwen-code/qwen-code",
        log_in="qwen, then /auth",
        keys=("OPENAI_API_KEY", "DASHSCOPE_API_KEY"),
        logins=(".qwen/oauth_creds.json",),
        variables=("QWEN_*", "OPENAI_*", "DASHSCOPE_*"),
        node=22,
    ),
}  # fmt: skip
"""By the name that `--agent` takes."""


def recognised(argv: Sequence[str]) -> KnownAgent | None:
    """Return the agent that a command line starts, by the program's name and the arguments that make it speak."""
    if not argv:
        return None
    program, arguments = argv[0].rpartition("/")[2], argv[1:]
    for agent in KNOWN.values():
        if program == agent.program and all(argument in arguments for argument in agent.command[1:]):
            return agent
    return None
