"""Codex as a family: `codex app-server`."""

from functools import partial

from turnwire.adapter.codex.opening import open_codex_session
from turnwire.adapter.codex.policies import NEVER_ASKS
from turnwire.adapter.codex.session import CAPABILITIES
from turnwire.adapter.family import AgentFamily, resume_at_unsupported
from turnwire.normalize.codex.family import CODEX_APP_SERVER

CODEX = AgentFamily(
    CODEX_APP_SERVER.name,
    CODEX_APP_SERVER.core,
    lambda _: CAPABILITIES,
    open_codex_session,
    partial(resume_at_unsupported, CODEX_APP_SERVER.name),
    lambda _: NEVER_ASKS,
)
