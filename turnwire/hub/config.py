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
    """TCP connections at once; one more is answered 503 and closed. The last eighth is for the role control."""
    newcomers: int = Field(default=128, ge=1)
    """Connections that have not yet shown a token, at once; one more takes the place of the oldest of the address that has the most."""
    newcomers_per_address: int = Field(default=32, ge=1)
    """The same of one address (of IPv6: of one network of 64 bits); one more takes the place of its oldest."""
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
    """Commands of one connection; more are refused with `rate_limited`."""
    commands_burst: int = Field(default=100, ge=1)
    """Commands of one connection at once."""
    commands_in_flight: int = Field(default=64, ge=1)
    """Commands of one connection that are being done; while there are so many, it is not read from."""
    write_buffer: int = Field(default=64 * KIB, ge=KIB)
    """Bytes waiting to be sent to a frontend, over which it gets no more events until it has read."""
    unread_replies: int = Field(default=MIB, ge=KIB)
    """Bytes waiting to be sent to a frontend, over which no more commands are read from it."""
    unread: int = Field(default=64 * MIB, ge=KIB)
    """Bytes waiting to be sent to all frontends together, over which an event or a reply larger than 256 KiB waits."""
    unread_s: float = Field(default=10, gt=0)
    """While one waits so, a frontend that has read nothing for so long is cut; it can come back to where it was."""
    socket_buffer: int | None = Field(default=256 * KIB, ge=KIB)
    """Size of the kernel's send buffer for each connection; None leaves it to the kernel."""
    ping_s: float = Field(default=20, gt=0)
    """How often a frontend is pinged."""
    silence_s: float = Field(default=60, gt=0)
    """A frontend that does not answer, or reads nothing of what waits for it, for so long is cut; it can come back to where it was."""
    failed_tokens: int = Field(default=10, ge=1)
    """Wrong tokens from one address, before a further wrong one is answered 429 (or closed with 4429)."""
    failed_tokens_per_s: float = Field(default=0.2, gt=0)
    """How fast that allowance comes back."""
    wrong_token_s: float = Field(default=1, ge=0)
    """How long a wrong token waits for its answer once that allowance is used up; a right one never does."""


class HubConfig(BaseModel):
    """The hub's address and its access control."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = "127.0.0.1"
    """Address to listen on. One that is not loopback needs `token`."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    token: SecretStr | None = None
    """Token of the role control; a kept or random one when absent."""
    view_token: SecretStr | None = None
    """Token of the role view; a kept or random one when absent."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names of the hub, in addition to loopback and, when it listens elsewhere, any IP address."""
    allowed_origins: tuple[str, ...] = ()
    """Origins of pages that may connect, in addition to the hub's own: `https://console.example`."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses and networks of the reverse proxies whose `X-Forwarded-For` or `Forwarded` says where a request comes from."""
    proxy_user_header: str | None = None
    """Header in which a trusted proxy names who it has logged in; None: no proxy is asked."""
    proxy_user_role: Role = "control"
    """What such a user may."""
    proxy_user_sessions: tuple[str, ...] = ("own",)
    """Which sessions such a user may see: all, own, folder:PATH."""
    certificate: Path | None = None
    """PEM file of the TLS certificate and its chain."""
    key: Path | None = None
    """PEM file of its private key; in the certificate's file when absent."""
    compression: bool = False
    """Offer permessage-deflate: less to send over thin lines, more to compute for every frontend."""
    static: Path | None = None
    """Folder of the console; the one that comes with turnwire when absent."""
    trace_url: str | None = None
    """Template of the link to a trace, with {trace_id}."""
    cookie: str | None = None
    """Name of the browsers' cookie, where hubs share their logins; one by its port when absent, which tells those of one machine apart."""
    limits: Limits = Limits()
    """The limits."""
