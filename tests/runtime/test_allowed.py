"""Hosts and origins that somebody allows: read as they are meant, or refused."""

from collections.abc import Callable
from typing import Any

import pytest

import turnwire
from turnwire._runtime.allowed import allowed_hosts, allowed_origins
from turnwire.config.settings import ConfigurationError, load
from turnwire.frontends.agui.app import create_app as agui
from turnwire.frontends.ai_sdk.app import create_app as use_chat


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://app.example", "https://app.example"),
        ("https://App.Example/", "https://app.example"),
        ("https://app.example:443", "https://app.example"),
        ("http://app.example:80", "http://app.example"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("tauri://localhost", "tauri://localhost"),
        ("null", "null"),
    ],
)
def test_an_origin_is_compared_as_browsers_send_it(written: str, sent: str) -> None:
    assert allowed_origins([written]) == (sent,)


@pytest.mark.parametrize(
    "written",
    ["*", "app.example", "app.example:8080", "https://*.app.example", "https://app.example/page", "https://",
     "https://app.example:port", "https://ann@app.example", "https://app.example?x", "https://\u00e4pp.example"],
)  # fmt: skip
def test_an_origin_that_no_page_has_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is not the origin of a page; write SCHEME://HOST"):
        allowed_origins([written])


@pytest.mark.parametrize(
    ("written", "compared"),
    [
        ("app.example", "app.example"),
        ("App.Example", "app.example"),
        ("app.example:8443", "app.example"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]:8443", "2001:db8::1"),
        ("2001:DB8::1", "2001:db8::1"),
    ],
)
def test_a_host_is_compared_without_its_port(written: str, compared: str) -> None:
    assert allowed_hosts([written]) == (compared,)


@pytest.mark.parametrize(
    "written",
    ["*", "*.app.example", "https://app.example", "app.example/page", "", "app.example:port", "ann@app.example",
     "\u00e4pp.example"],
)  # fmt: skip
def test_a_host_that_no_request_names_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="is not the name of a host; write the name alone"):
        allowed_hosts([written])


@pytest.mark.parametrize("read", [allowed_hosts, allowed_origins])
def test_a_text_in_the_place_of_a_list_is_refused(read: Callable[[str], object]) -> None:
    with pytest.raises(ValueError, match="is one text; give a list"):
        read("https://app.example")


def test_the_hubs_settings_are_read_the_same_way() -> None:
    given: dict[str, object] = {
        "allowed_origins": ["https://App.Example/"],
        "allowed_hosts": ["App.Example:8443"],
    }
    settings = load(given, None)
    assert (settings.allowed_origins, settings.allowed_hosts) == (["https://app.example"], ["app.example"])
    for name, written in (("allowed_origins", "app.example"), ("allowed_hosts", "https://app.example")):
        with pytest.raises(ConfigurationError, match=f"{name}.*'{written}' is not"):
            load({name: [written]}, None)


async def nobody(_: object) -> None:
    """Let nobody in."""


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"allowed_hosts": "app.example"}, "is one text; give a list"),
        ({"allowed_origins": ["app.example"]}, "'app.example' is not the origin of a page"),
        ({"port": 9000}, "port is not for a mounted hub: its application listens"),
    ],
)
def test_a_mounted_hub_refuses_what_would_not_count(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(turnwire.TurnwireError, match=complaint):
        turnwire.asgi(nobody, **given)


@pytest.mark.parametrize("create_app", [agui, use_chat])
def test_a_web_frontend_refuses_what_would_not_count(create_app: Callable[..., object]) -> None:
    for given in ({"allowed_origins": ["app.example"]}, {"allowed_hosts": ["https://app.example"]}):
        with pytest.raises(ValueError, match="is not the"):
            create_app("http://127.0.0.1:8790", **given)
    with pytest.raises(ValueError, match=r"'127\.0\.0\.1:8790' is no address of a hub"):
        create_app("127.0.0.1:8790#token=secret")
