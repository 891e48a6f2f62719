"""The environment of the CLI: variables that are allowed by name, and variables that are given. Nothing else.

Values are never logged and never published; only names appear in errors.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from turnwire.protocol.errors import TurnwireError

WILDCARDS = frozenset("*?[")
"""What makes a pattern of a name."""

ALLOWED = (
    *("HOME", "PATH", "SHELL", "USER", "LOGNAME", "TMPDIR", "TERM", "TZ", "LANG", "LC_*", "XDG_*"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK", "GIT_*"),
    *("ANTHROPIC_*", "CLAUDE_*", "DISABLE_*", "BASH_*", "MCP_*", "MAX_THINKING_TOKENS", "API_TIMEOUT_MS"),
    *("AWS_*", "GOOGLE_*", "CLOUD_ML_REGION", "VERTEX_*", "IS_SANDBOX"),
)
"""Names (with wildcards) that a CLI gets from the sidecar's own environment unless configured otherwise."""


OF_A_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_WORK_TREE",
    }
)
"""Names that lead git to one repository, whatever the folder; a git hook has them. They reach a CLI only if they are given or
allowed by their whole names."""


REQUESTABLE = (
    *("LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "TZ", "NO_COLOR", "MAX_THINKING_TOKENS"),
    *("API_TIMEOUT_MS", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS", "BASH_MAX_OUTPUT_LENGTH"),
    *("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MCP_TIMEOUT", "MCP_TOOL_TIMEOUT"),
)
"""Names that a frontend may ask for unless configured otherwise: language, time zone, and limits in numbers. None of them
names a program, a file or a server."""


class EnvironmentRefused(TurnwireError, ValueError):
    """A variable that may not be set; names it, and never its value."""


def build_environment(
    own: Mapping[str, str],
    *,
    allowed: Sequence[str] = ALLOWED,
    given: Mapping[str, str] | None = None,
    requestable: Sequence[str] = REQUESTABLE,
    requested: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Return the whole environment of a CLI.

    Args:
        own: the sidecar's environment; only allowed names are taken, and of OF_A_REPOSITORY none by a wildcard.
        allowed: the allow-list, names with wildcards.
        given: variables of the configuration; not restricted.
        requestable: names, with wildcards, that may be asked for.
        requested: variables a frontend asks for; raises EnvironmentRefused unless their names are requestable.
    """
    environment = {
        name: value
        for name, value in own.items()
        if is_allowed(name, allowed) and (name not in OF_A_REPOSITORY or name in allowed)
    }
    environment.update(given or {})
    for name, value in (requested or {}).items():
        if not is_allowed(name, requestable):
            raise EnvironmentRefused(f"the variable {name} is not one that frontends may set")
        environment[name] = value
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise EnvironmentRefused(f"{name!r} or its value cannot be an environment variable")
    return environment


def is_allowed(name: str, allowed: Sequence[str] = ALLOWED) -> bool:
    """Tell whether a name is on the allow-list."""
    return name in allowed or any(
        fnmatchcase(name, pattern) for pattern in allowed if not WILDCARDS.isdisjoint(pattern)
    )
