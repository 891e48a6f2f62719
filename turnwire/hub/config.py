"""Configuration of the hub: its address, its access control, and its limits."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from turnwire.normalize.vocabulary import Role

KIB = 1 << 10
MIB = 1 << 20


class Limits(BaseModel):
    """Bounds that protect the sidecar, each with its documented refusal (docs/protocol.md)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    connections: int = Field(default=512, ge=1)
    """Most TCP connections. The hub answers one more with 503 and closes it. The last eighth is reserved for the role control."""
    newcomers: int = Field(default=128, ge=1)
    """Most connections that have not shown a token yet. One more replaces the oldest connection of the address with the most."""
    newcomers_per_address: int = Field(default=32, ge=1)
    """The same limit for one address (of IPv6: for one /64 network). One more replaces the oldest connection of that address."""
    handshake_s: float = Field(default=10, gt=0)
    """A connection that has not sent its request head by then, TLS included, is cut."""
    hello_s: float = Field(default=10, gt=0)
    """A WebSocket that has not shown a token by then is closed with 4408."""
    first_frame: int = Field(default=4 * KIB, ge=KIB)
    """Bytes of a frame from a frontend that has not shown a token; a larger one is closed with 1009."""
    frame: int = Field(default=64 * KIB, ge=KIB)
    """Bytes of a frame from a frontend that may only view; a larger one is closed with 1009."""
    control_frame: int = Field(default=16 * MIB, ge=KIB)
    """Bytes of a frame from a frontend that may control: room for the attachments of a prompt."""
    commands_per_s: float = Field(default=50, gt=0)
    """Commands of one principal, or of one connection with a token of the hub's own; more are refused with `rate_limited`."""
    commands_burst: int = Field(default=100, ge=1)
    """Commands that it may send at once."""
    commands_in_flight: int = Field(default=64, ge=1)
    """Commands of one connection that are being done; while there are so many, it is not read from."""
    write_buffer: int = Field(default=64 * KIB, ge=KIB)
    """Bytes waiting to be sent to a frontend, over which it gets no more events until it has read."""
    unread_replies: int = Field(default=MIB, ge=KIB)
    """Bytes waiting to be sent to a frontend, over which no more commands are read from it."""
    unread: int = Field(default=64 * MIB, ge=KIB)
    """Bytes waiting to be sent to all frontends together, over which an event or a reply larger than 256 KiB waits."""
    unread_s: float = Field(default=10, gt=0)
    """Seconds after which a frontend that reads nothing is disconnected while another waits for that memory. It can reconnect and
    resume."""
    socket_buffer: int | None = Field(default=256 * KIB, ge=KIB)
    """Size of the kernel's send buffer for each connection; None leaves it to the kernel."""
    ping_s: float = Field(default=20, gt=0)
    """How often a frontend is pinged."""
    silence_s: float = Field(default=60, gt=0)
    """Seconds after which a frontend is disconnected that does not answer pings, or reads nothing of what waits for it. It can
    reconnect and resume."""
    failed_tokens: int = Field(default=10, ge=1)
    """Wrong tokens from one address, before a further wrong one is answered 429 (or closed with 4429)."""
    failed_tokens_per_s: float = Field(default=0.2, gt=0)
    """Wrong tokens per second by which that allowance refills."""
    wrong_token_s: float = Field(default=1, ge=0)
    """Seconds by which the answer to a wrong token is delayed once that allowance is used up. A right token is never delayed."""


class HubConfig(BaseModel):
    """The hub's address and its access control."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """Address to listen on. An address other than loopback needs `token`."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port to listen on; 0 chooses a free one."""
    token: SecretStr | None = None
    """Token of the role control. Without it turnwire uses a stored or random one."""
    view_token: SecretStr | None = None
    """Token of the role view. Without it turnwire uses a stored or random one."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names of the hub, in addition to loopback and, when it listens elsewhere, any IP address."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of pages that may connect, in addition to the hub's own: `https://console.example`."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of reverse proxies. turnwire trusts their `X-Forwarded-For` or `Forwarded` for a request's address."""
    proxy_user_header: str | None = None
    """Header in which a trusted proxy names the logged-in user. None: proxies log nobody in."""
    proxy_user_role: Role = "control"
    """Role of such a user."""
    proxy_user_sessions: tuple[str, ...] = ("own",)
    """Which sessions such a user may see: all, own, folder:PATH."""
    certificate: Path | None = None
    """PEM file of the TLS certificate and its chain."""
    key: Path | None = None
    """PEM file of its private key; in the certificate's file when absent."""
    compression: bool = False
    """Offer permessage-deflate: less to send over thin lines, more to compute for every frontend."""
    static: Path | None = None
    """Folder of the console. Without it turnwire serves its own console."""
    trace_url: str | None = None
    """Template of the link to a trace, with {trace_id}."""
    cookie: str | None = None
    """Name of the browsers' cookie, if several hubs share their logins. Without it the name contains the port, which separates
    hubs on one machine."""
    limits: Limits = Limits()
    """The limits."""
