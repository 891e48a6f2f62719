"""What the settings say of the hub."""

from turnwire._runtime.origins import is_loopback
from turnwire.config.settings import Settings
from turnwire.hub.config import HubConfig, Limits


def hub_config(settings: Settings) -> HubConfig:
    """Return the hub's part of the settings."""
    return HubConfig(
        host=settings.host,
        port=settings.port,
        token=settings.token,
        view_token=settings.view_token,
        allowed_hosts=tuple(settings.allowed_hosts),
        allowed_origins=tuple(settings.allowed_origins),
        trusted_proxies=tuple(settings.trusted_proxies),
        proxy_user_header=settings.proxy_user_header,
        proxy_user_role=settings.proxy_user_role,
        proxy_user_sessions=tuple(settings.proxy_user_sessions),
        certificate=settings.tls_certificate,
        key=settings.tls_key,
        compression=settings.compression,
        trace_url=settings.trace_url,
        limits=Limits(connections=settings.max_connections),
    )


def has_shells(settings: Settings) -> bool:
    """Return whether frontends may open shells: as set, and otherwise where this machine alone is served."""
    if settings.shell is not None:
        return settings.shell == "on"
    elsewhere = (
        settings.trusted_proxies,
        settings.allowed_hosts,
        settings.allowed_origins,
        settings.public_url,
        settings.worker,
    )
    return is_loopback(settings.host) and not any(elsewhere)
