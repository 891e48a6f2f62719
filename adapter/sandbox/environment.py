"""Which variables a program in a sandbox gets: what any program needs, what the agent needs, and what the operator names."""

from collections.abc import Mapping, Sequence

from turnwire.adapter.process.environment import REQUESTABLE, is_allowed

NEEDED = (
    *("HOME", "PATH", "SHELL", "USER", "LOGNAME", "TMPDIR", "TERM", "COLORTERM", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TZ"),
    *("LANG", "LANGUAGE", "LC_*", "XDG_*", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO"),
    *("GIT_AUTHOR_*", "GIT_COMMITTER_*", "GIT_TERMINAL_PROMPT", "TRACEPARENT", "TRACESTATE", "BAGGAGE", "TURNWIRE_PROCESS"),
)  # fmt: skip
"""Names, with wildcards, that every program in a sandbox gets. None of them is a key."""

BY_SWITCH: Mapping[str, Sequence[str]] = {
    "CLAUDE_CODE_USE_BEDROCK": ("AWS_*",),
    "CLAUDE_CODE_USE_VERTEX": ("GOOGLE_*", "VERTEX_*", "CLOUD_ML_REGION"),
    "GOOGLE_GENAI_USE_VERTEXAI": ("GOOGLE_*",),
}
"""Names of a cloud's keys, by the variable that has an agent's model come from there."""

_OFF = frozenset({"", "0", "false", "no", "off"})


def kept_outside(environment: Mapping[str, str], passes: Sequence[str]) -> dict[str, str]:
    """Return the variables of an environment that no program in a sandbox gets.

    Args:
        environment: what the agent would get without a sandbox.
        passes: names, with wildcards, that the agent needs and that the operator names.
    """
    allowed = [*NEEDED, *REQUESTABLE, *passes]
    for switch, names in BY_SWITCH.items():
        if is_allowed(switch, allowed) and environment.get(switch, "").lower() not in _OFF:
            allowed += names
    return {name: value for name, value in environment.items() if not is_allowed(name, allowed)}
