"""CLIs that speak Claude's protocol, and agents that speak a dialect of it, as families."""

from functools import partial
from typing import TYPE_CHECKING

from turnwire.adapter.claude import qwen
from turnwire.adapter.claude.opening import open_session, open_third_party
from turnwire.adapter.claude.version import FOREIGN, capabilities, check_resume_at
from turnwire.adapter.family import AgentFamily, resume_at_unsupported
from turnwire.adapter.process.version import parse_version
from turnwire.normalize.families import FAMILIES as CORES
from turnwire.protocol.dialects import AUTOMATIC, CLAUDE, JSON_RPC, MIRIAD, Dialect

if TYPE_CHECKING:
    from turnwire.adapter.interface import InterfaceHooks


def _interface_hooks() -> "InterfaceHooks":
    from turnwire.adapter.claude.interface import INTERFACE_HOOKS  # noqa: PLC0415 - few conversations are ever in a terminal

    return INTERFACE_HOOKS


_UNKNOWN = ("No conversation found with session ID", "No saved session found with ID")
"""What Claude Code and Qwen Code say on stderr of a conversation that they do not know."""


def _is_unknown(last_words: str) -> bool:
    return any(words in last_words for words in _UNKNOWN)


def _of_claude(dialect: Dialect) -> AgentFamily:
    return AgentFamily(
        dialect.name,
        CORES["claude"].core,
        lambda version: capabilities(parse_version(version or "")),
        partial(open_session, dialect=dialect),
        lambda message, version: check_resume_at(message, parse_version(version or "")),
        is_unknown=_is_unknown,
        interface_hooks=_interface_hooks,
    )


def _foreign(dialect: Dialect) -> AgentFamily:
    return AgentFamily(
        dialect.name,
        CORES[dialect.name].core,
        lambda _: FOREIGN,
        partial(open_third_party, dialect=dialect),
        partial(resume_at_unsupported, dialect.name),
    )


def _of_qwen() -> AgentFamily:
    return AgentFamily(
        "qwen",
        CORES["claude"].core,
        lambda _: qwen.CAPABILITIES,
        partial(open_session, variant=qwen.QWEN),
        partial(resume_at_unsupported, "qwen"),
        is_unknown=_is_unknown,
    )


CLAUDES = {
    family.name: family
    for family in (
        _of_claude(CLAUDE),
        _of_claude(AUTOMATIC),
        _of_qwen(),
        _foreign(MIRIAD),
        _foreign(JSON_RPC),
    )
}
"""By their names; `auto` is a CLI whose dialect is heard."""

CLAUDE_CODE = CLAUDES["claude"]
AUTOMATIC_AGENTS = CLAUDES["auto"]
QWEN = CLAUDES["qwen"]
MIRIAD_AGENTS = CLAUDES["miriad"]
JSON_RPC_AGENTS = CLAUDES["json_rpc"]
