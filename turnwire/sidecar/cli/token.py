"""The commands for tokens of principals."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from turnwire.protocol.visible import ordered
from turnwire.sidecar.cli.application import app, examples, fail, plain_errors
from turnwire.sidecar.cli.options import ConfigOption

if TYPE_CHECKING:
    from turnwire.sidecar.principals.configured import PrincipalTokens

token = typer.Typer(help="Create, list and revoke access tokens.", no_args_is_help=True)
app.add_typer(token, name="token")

StateDir = Annotated[
    Path | None,
    typer.Option(help="State directory of the sidecar.", show_default="that of serve"),
]
Journal = Annotated[
    str | None,
    typer.Option(
        help="With redis, or redis://HOST:PORT/0, the tokens are in Redis, for every sidecar that uses it.",
        show_default="as configured, else sqlite",
    ),
]
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


@token.callback()
def root() -> None:
    """Tokens of principals, each with a name, a role, and the sessions it shows."""


@token.command(
    "create",
    short_help="Create a token. It is shown only once.",
    epilog=examples(
        "turnwire token create ann --expires 30d",
        "turnwire token create ci --role view --sessions folder:/srv/builds",
    ),
)
def create_command(
    name: Annotated[str, typer.Argument(help="Name of the person; decisions show it as user:NAME.")],
    *,
    role: Annotated[
        Literal["control", "view", "admin"],
        typer.Option(help="control, view to watch only, or admin to lead the workers of a fleet, too."),
    ] = "control",
    sessions: Annotated[
        list[str] | None,
        typer.Option(
            help="Sessions that it gives access to: own, folder:/PATH, all. Where it may begin some: in:/PATH, worker:NAME. Repeatable.",
            show_default="own; all of an admin",
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="Lifetime: 90m, 12h, 30d, 8w.", show_default="never")
    ] = None,
    state_dir: StateDir = None,
    journal: Journal = None,
    config: ConfigOption = None,
) -> None:
    """Create a token. It is shown only once: turnwire stores a hash of it."""
    import time

    from turnwire.hub.principals import BadPrincipal, Scope
    from turnwire.sidecar.principals.file import TokensUnusable
    from turnwire.sidecar.principals.kept import new_token

    tokens = _tokens(state_dir, journal, config)
    with plain_errors(BadPrincipal, code=2):
        made, kept = new_token(
            name,
            role,
            Scope.parse(sessions or ["all" if role == "admin" else "own"]),
            now=time.time(),
            lasts_s=_seconds(expires),
        )
    with plain_errors(TokensUnusable):
        tokens.add(kept)
    typer.echo(made)
    typer.echo(
        f"turnwire: the token {kept.id} of {name} is not shown again; {_said(kept.expires)}; "
        f"`turnwire token revoke {kept.id}` ends it",
        err=True,
    )


@token.command("list", short_help="List the tokens.", epilog=examples("turnwire token list"))
def list_command(*, state_dir: StateDir = None, journal: Journal = None, config: ConfigOption = None) -> None:
    """List the tokens, one a line: id, name, role, sessions, expiry."""
    import time

    from turnwire.sidecar.principals.file import TokensUnusable

    with plain_errors(TokensUnusable):
        found = _tokens(state_dir, journal, config).tokens()
    for one in sorted(found, key=lambda kept: (kept.name, kept.created)):
        over = one.expires is not None and one.expires <= time.time()
        until = "expired" if over else _said(one.expires)
        typer.echo(ordered(f"{one.id}  {one.name}  {one.role}  {','.join(one.sessions)}  {until}"))


@token.command("revoke", short_help="Revoke a token.", epilog=examples("turnwire token revoke ann"))
def revoke_command(
    which: Annotated[str, typer.Argument(help="Id of a token, or a name for all tokens of that name.")],
    *,
    state_dir: StateDir = None,
    journal: Journal = None,
    config: ConfigOption = None,
) -> None:
    """Revoke a token, and close its connections."""
    from turnwire.sidecar.principals.file import TokensUnusable

    tokens = _tokens(state_dir, journal, config)
    with plain_errors(TokensUnusable):
        found = [one for one in tokens.tokens() if which in {one.id, one.name}]
        if not found:
            fail(f"there is no token {which!r}; `turnwire token list` names them")
        tokens.revoke([one.id for one in found])
    for one in found:
        typer.echo(ordered(f"the token {one.id} of {one.name} is revoked"))


def _tokens(state_dir: Path | None, journal: str | None, config: Path | None) -> "PrincipalTokens":
    from turnwire.config.settings import ConfigurationError, load
    from turnwire.sidecar.principals.configured import tokens_of
    from turnwire.sidecar.principals.file import TokensUnusable

    with plain_errors(ConfigurationError, code=2):
        settings = load({"state_dir": state_dir, "journal": journal}, config)
    with plain_errors(TokensUnusable):
        return tokens_of(settings)


def _seconds(lasts: str | None) -> float | None:
    if lasts is None:
        return None
    found = re.fullmatch(r"(\d{1,6})([mhdw])", lasts)
    if found is None or int(found[1]) == 0:
        fail(f"--expires {lasts!r} is not a time; give a number and m, h, d or w, such as 30d", 2)
    return int(found[1]) * _UNITS[found[2]]


def _said(expires: float | None) -> str:
    if expires is None:
        return "does not expire"
    return f"until {datetime.fromtimestamp(expires, UTC).isoformat(timespec='seconds')}"
