import ipaddress

import pytest

from turnwire.adapter.sandbox.hosts import HostList, Target, read_address, read_target, why_refused


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("Files.Example.org.:443", Target("files.example.org", 443)),
        ("[::1]:80", Target("::1", 80)),
        ("127.1:80", Target("127.0.0.1", 80)),
        ("0x7f000001:80", Target("127.0.0.1", 80)),
        ("2130706433:80", Target("127.0.0.1", 80)),
        ("0177.0.0.1:80", Target("127.0.0.1", 80)),
        ("example.org", None),
        ("example.org:0", None),
        ("example.org:65536", None),
        ("a b:80", None),
        ("[example.org]:80", None),
        ("ex\u0430mple.org:443", None),
        ("host\r\nevil:80", None),
    ],
)
def test_a_target_is_read_in_any_spelling_and_no_other(text: str, target: Target | None) -> None:
    assert read_target(text) == target


def test_a_host_without_a_port_has_the_one_of_its_scheme() -> None:
    assert read_target("example.org", 80) == Target("example.org", 80)
    assert read_target("[2001:db8::1]", 80) == Target("2001:db8::1", 80)
    assert str(Target("2001:db8::1", 80)) == "[2001:db8::1]:80"


@pytest.mark.parametrize(
    ("entry", "target", "found"),
    [
        ("example.org", "example.org:443", "exactly"),
        ("example.org", "example.org:80", "exactly"),
        ("example.org", "example.org:22", "no"),
        ("example.org:22", "example.org:22", "exactly"),
        ("*.example.org", "a.b.example.org:443", "by pattern"),
        ("*.example.org", "example.org:443", "no"),
        ("*.example.org", "badexample.org:443", "no"),
        ("*.example.org:8443", "a.example.org:8443", "by pattern"),
        ("*", "anything.test:443", "by pattern"),
        ("*", "anything.test:25", "no"),
        ("127.0.0.1:4000", "127.0.0.1:4000", "exactly"),
    ],
)  # fmt: skip
def test_a_list_means_hosts_and_ports(entry: str, target: str, found: str) -> None:
    wanted = read_target(target)
    assert wanted is not None
    assert HostList([entry]).find(wanted) == found


@pytest.mark.parametrize("entry", ["a*b.org", "*org", "http://example.org", "", "ex ample.org"])
def test_a_list_refuses_what_is_no_host(entry: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        HostList([entry])


def test_ports_of_this_machine_are_those_that_are_listed() -> None:
    assert HostList(["localhost:5000", "127.0.0.1:4000", "example.org"]).loopback_ports == (4000, 5000)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "0.0.0.0", "::",
        "10.0.0.1", "172.16.3.4", "192.168.1.1", "100.64.0.1", "fd00::1", "64:ff9b::a00:1", "::ffff:192.168.0.1",
        "169.254.169.254", "168.63.129.16", "::ffff:168.63.129.16", "fe80::1", "::ffff:169.254.169.254", "fd00:ec2::254", "224.0.0.1", "ff02::1", "255.255.255.255", "198.18.0.1",
    ],
)  # fmt: skip
def test_what_is_not_of_the_public_internet_is_refused(address: str) -> None:
    assert why_refused(ipaddress.ip_address(address), listed="no") is not None
    assert why_refused(ipaddress.ip_address(address), listed="by pattern") is not None


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1"])
def test_a_public_address_is_not(address: str) -> None:
    assert why_refused(ipaddress.ip_address(address), listed="no") is None


def test_a_list_opens_private_addresses_and_loopback_by_its_own_name_and_never_metadata() -> None:
    private, loopback, metadata = map(ipaddress.ip_address, ("10.0.0.1", "127.0.0.1", "169.254.169.254"))
    assert why_refused(private, listed="exactly", by_name=True) is None
    assert why_refused(loopback, listed="exactly") is None
    assert why_refused(loopback, listed="exactly", by_name=True) is not None
    assert why_refused(metadata, listed="exactly") is not None


def test_a_name_is_no_address() -> None:
    assert read_address("dead.beef") is None
    assert read_address("1password.com") is None
    assert read_address("999.999.999.999") is None
